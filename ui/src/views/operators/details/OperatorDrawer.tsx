export function OperatorDrawer(_: { run: string; side: string }) { return null }
