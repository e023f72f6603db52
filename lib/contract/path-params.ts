/** The name in `[name]` and `name.json` around it. */
type NameIn<Text extends string> = Text extends `${string}[[...${infer Name}]]${string}`
  ? { [K in Name]: string[] }
  : Text extends `${string}[...${infer Name}]${string}`
    ? { [K in Name]: string[] }
    : Text extends `${string}[${infer Name}]${infer Behind}`
      ? { [K in Name]: string } & NameIn<Behind>
      : unknown

type NamesIn<Path extends string> = Path extends `${infer Segment}/${infer Behind}`
  ? NameIn<Segment> & NamesIn<Behind>
  : NameIn<Path>

/** `'/teams/[team]/files/[...path]'` to `{ team: string; path: string[] }`. */
export type PathParams<Path extends string> = { [Name in keyof NamesIn<Path>]: NamesIn<Path>[Name] }
