/** A part of a list, and how long the whole list is. */
export interface Listing<Row> {
  data: Row[]
  total: number
}
