import type { Segment, SegmentPart } from '../contract/manifest.js'
import type { ServedRoute } from '../fastify/served-routes.js'

/** A parameter of a path template. */
export interface TemplateParam {
  readonly name: string
  /** It has all segments from its place on. */
  readonly isRest: boolean
}

/** A path as OpenAPI writes it: `/api/teams/{team}/notes`. */
export interface PathTemplate {
  readonly template: string
  readonly params: readonly TemplateParam[]
}

/** Characters that a path holds as they are (RFC 3986, section 3.3); braces are not among them. */
const NOT_OF_PATHS = /[^\w.~!$&'()*+,;=:@-]+/gu

/** The templates of a route file: two for an optional rest segment, the longer one first. */
export function templatesOf({ route, mount }: ServedRoute): PathTemplate[] {
  const around = mountTemplate(mount)
  const last = route.segments.at(-1)
  const whole = appendSegments(around, route.segments)
  const isOptional = last?.kind === 'rest' && last.optional
  return isOptional ? [whole, appendSegments(around, route.segments.slice(0, -1))] : [whole]
}

/** The prefix of a registration, in Fastify's syntax. */
function mountTemplate(mount: string): PathTemplate {
  const params: TemplateParam[] = []
  const template = mount
    .replace(/\/$/, '')
    .replaceAll(/::|:(\w+)(?:\([^/]*\))?/g, (found, name: string | undefined) => {
      if (name === undefined) return found === '::' ? ':' : found
      params.push({ name, isRest: false })
      return `{${name}}`
    })
  return { template, params }
}

function appendSegments({ template, params }: PathTemplate, segments: readonly Segment[]): PathTemplate {
  const path = template + segments.map((segment) => `/${segmentTemplate(segment)}`).join('')
  return { template: path === '' ? '/' : path, params: [...params, ...segments.flatMap(paramsOf)] }
}

function segmentTemplate(segment: Segment): string {
  if (segment.kind === 'static') return encode(segment.text)
  return segment.kind === 'rest' ? `{${segment.name}}` : segment.parts.map(partTemplate).join('')
}

function partTemplate(part: SegmentPart): string {
  return 'name' in part ? `{${part.name}}` : encode(part.literal)
}

function paramsOf(segment: Segment): TemplateParam[] {
  if (segment.kind === 'static') return []
  if (segment.kind === 'rest') return [{ name: segment.name, isRest: true }]
  return segment.parts.flatMap((part) => ('name' in part ? { name: part.name, isRest: false } : []))
}

function encode(text: string): string {
  return text.replaceAll(NOT_OF_PATHS, encodeURIComponent)
}
