export const table = {
  search: 'Search',
  clear: 'Clear the search',
  rows: (shown: string, all: string) => (shown === all ? `${all} ${all === '1' ? 'row' : 'rows'}` : `${shown} of ${all} rows`),
  sortBy: (column: string) => `Sort by ${column}`,
  expand: 'Show more',
  collapse: 'Show less',
  none: 'No rows',
  noneFor: (query: string) => `No row answers “${query}”`,
  most: (count: string) => `The first ${count} rows are listed; search or another order shows others.`,
}
