/** Whether a change to a record leaves it as it is: nothing is written then, `updatedAt` neither. */
export function isEmpty(changes: object): boolean {
  return Object.values(changes).every((value) => value === undefined)
}
