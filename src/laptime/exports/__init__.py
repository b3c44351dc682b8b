"""What others read: tables as CSV, a recording as Chrome trace events."""
