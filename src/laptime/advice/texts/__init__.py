"""What findings say, in English and Chinese: the same keys with the same placeholders."""
