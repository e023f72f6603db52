/** What `JSON.stringify` leaves out of an object, and writes as `null` in a list. */
type NoJson = undefined | symbol | ((...given: never) => unknown)

/** The names of an object that JSON keeps. */
type JsonKeys<Type> = {
  [Key in keyof Type]-?: Key extends symbol ? never : Exclude<Type[Key], undefined> extends NoJson ? never : Key
}[keyof Type]

type Entry<Type> = Type extends NoJson ? null : AsJson<Type>

/**
 * A value as it is after `JSON.stringify` and `JSON.parse`: a Date is a string, methods are gone, a Map is an empty object.
 * What JSON cannot hold (bigint) is `never`, what is not known stays `unknown`.
 */
export type AsJson<Type> = unknown extends Type
  ? unknown
  : Type extends string | number | boolean | null | undefined
    ? Type
    : Type extends { toJSON(...given: never): infer Text }
      ? AsJson<Text>
      : Type extends bigint | NoJson
        ? never
        : Type extends readonly unknown[]
          ? { [Key in keyof Type]: Entry<Type[Key]> }
          : Type extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
            ? Record<string, never>
            : { [Key in keyof Pick<Type, JsonKeys<Type>>]: AsJson<Type[Key]> }
