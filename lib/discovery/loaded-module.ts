/** What a file exports, or what was thrown when it was imported. */
export type LoadedModule =
  | { file: string; exports: Readonly<Record<string, unknown>> }
  | { file: string; error: unknown }
