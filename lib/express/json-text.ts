import express from 'express'

/** Of Express's application object: what JSON is written by. */
interface Settings {
  readonly settings: object
}

/** Whether an application writes JSON by settings of its own: `json escape`, `json replacer`, `json spaces`. */
export function hasJsonSettings({ settings }: Settings): boolean {
  const set = settings as Record<string, unknown>
  return Boolean(set['json escape'] || set['json replacer'] || set['json spaces'])
}

/** The JSON text of a value as Express's own `response.json` writes it, with the settings of the application. */
export function expressJson(app: Settings, value: unknown): string | undefined {
  const sink = { app, get: () => 'application/json', send: (text: string | undefined) => text }
  const text: unknown = Reflect.apply(express.response.json, sink, [value])
  return text as string | undefined
}
