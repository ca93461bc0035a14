/** The kinds of option that a program can have. Each defines how its text is read and describes what it allows. */
import * as z from 'zod';

/** How the text of a flag or environment variable becomes a value. */
export type FieldKind = 'text' | 'number' | 'switch' | 'list';

/** What help and error messages say about a field. */
interface FieldNote {
  readonly kind: FieldKind;
  /** Placeholder for the value in the help. */
  readonly placeholder: string;
  /** Completes the sentence "must be ...". */
  readonly allowed: string;
}

const notes = z.registry<FieldNote>();

function noted<Schema extends z.ZodType>(
  schema: Schema,
  kind: FieldKind,
  placeholder: string,
  allowed: string,
): Schema {
  notes.add(schema, { kind, placeholder, allowed });
  return schema;
}

const BIND_ENDPOINT = /^(tcp:\/\/(\*|\[[0-9a-f:.%*]+\]|[^\s:/,]+):(\*|\d{1,5})|ipc:\/\/[^\s,]+)$/i;
const CONNECT_ENDPOINT = /^(tcp:\/\/(\[[0-9a-f:.%]+\]|[^\s:/,*]+):\d{1,5}|ipc:\/\/[^\s,*]+)$/i;

/** An endpoint to listen on. The host `*` means every interface, the port `*` any free port. */
export function bindEndpoint() {
  return noted(
    z.string().regex(BIND_ENDPOINT),
    'text',
    'ENDPOINT',
    'an endpoint such as tcp://127.0.0.1:5555, tcp://*:5555 or ipc:///run/broker',
  );
}

/** One or more endpoints to listen on, as in {@link bindEndpoint}. */
export function bindEndpoints() {
  return noted(
    z.array(z.string().regex(BIND_ENDPOINT)).min(1),
    'list',
    'ENDPOINT',
    'endpoints such as tcp://127.0.0.1:5555, tcp://*:5555 or ipc:///run/worker',
  );
}

/** One or more endpoints to connect to, the preferred one first. */
export function connectEndpoints() {
  return noted(
    z.array(z.string().regex(CONNECT_ENDPOINT)).min(1),
    'list',
    'ENDPOINT',
    'endpoints such as tcp://127.0.0.1:5555 or ipc:///run/broker',
  );
}

interface Bounds {
  readonly min: number;
  readonly max?: number;
}

/** An integer within bounds. */
export function wholeNumber(bounds: Bounds) {
  return bounded('N', 'a whole number', bounds);
}

/** A duration in milliseconds within bounds. */
export function milliseconds(bounds: Bounds) {
  return bounded('MS', 'milliseconds as a whole number', bounds);
}

/** A duration of at most a day, in milliseconds. */
export function withinADay(min = 1) {
  return milliseconds({ min, max: 86_400_000 });
}

/** A size in bytes within bounds. */
export function bytes(bounds: Bounds) {
  return bounded('BYTES', 'bytes as a whole number', bounds);
}

function bounded(placeholder: string, what: string, { min, max }: Bounds) {
  const schema = max === undefined ? z.int().min(min) : z.int().min(min).max(max);
  const range = max === undefined ? `at least ${min.toString()}` : `from ${min.toString()} to ${max.toString()}`;
  return noted(schema, 'number', placeholder, `${what}, ${range}`);
}

/** One of a few words. The placeholder lists them unless they are too many for a line of help. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
  placeholder: string = words.join('|'),
) {
  return noted(z.enum(words), 'text', placeholder, `one of ${words.join(', ')}`);
}

/** A list of words, each from a fixed set. */
export function someOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return noted(z.array(z.enum(words)).min(1), 'list', 'LIST', `a list of ${words.join(', ')}`);
}

/** Any non-empty text. `allowed` completes the sentence "must be ...". */
export function text(placeholder: string, allowed: string) {
  return noted(z.string().min(1), 'text', placeholder, allowed);
}

/** One or more service names, in Majordomo's syntax. */
export function serviceNames() {
  return noted(
    z.array(z.string().regex(/^(?!mmi\.)[\x20-\x7e]{1,255}$/)).min(1),
    'list',
    'NAME',
    'names of 1 to 255 printable ASCII characters not beginning with mmi.',
  );
}

/** One or more queues with weights, in EventMQ's syntax. */
export function weightedQueues() {
  return noted(
    z.array(z.string().regex(/^\d{1,9}:[^,]{1,85}$/)).min(1),
    'list',
    'WEIGHT:NAME',
    'weights and names such as 10:default or 20:email',
  );
}

/** On or off: `--name` and `--no-name` as flags, `true` and `false` elsewhere. */
export function onOff() {
  return noted(z.boolean(), 'switch', '', 'true or false');
}

/** A number or a switch in the schema of a package. */
type Setting = z.ZodInt | z.ZodBoolean;

/**
 * A package's option as a program's option, with the same bounds and default. `kind` is `wholeNumber`, `milliseconds`, `bytes` or, for a switch,
 * `onOff`.
 */
export function fromSchema<
  Inner extends Setting,
  Member extends z.ZodDefault<NoInfer<Inner>> | z.ZodOptional<NoInfer<Inner>>,
>(member: Member, kind: (bounds: Bounds) => Inner): Member {
  const inner = member.unwrap();
  const note = notes.get(kind(boundsOf(inner)));
  if (note !== undefined) notes.add(inner, note);
  return member;
}

/** A package's option with a fixed set of words, as a program's option. */
export function wordFromSchema<Words extends Record<string, string>>(
  member: z.ZodDefault<z.ZodEnum<Words>>,
): z.ZodDefault<z.ZodEnum<Words>> {
  const inner = member.unwrap();
  const words = inner.options;
  noted(inner, 'text', words.join('|'), `one of ${words.join(', ')}`);
  return member;
}

/** A package's option for one or more endpoints to listen on, as a program's option for one, with the first default. */
export function endpointFromSchema(member: z.ZodDefault<z.ZodType<string | string[]>>) {
  const [first = ''] = [member.def.defaultValue].flat();
  return bindEndpoint().default(first);
}

/** A value within the bounds of a package's numeric option. */
export function withinSchema(value: number, member: z.ZodDefault<z.ZodInt>): number {
  const { min, max = value } = boundsOf(member.unwrap());
  return Math.min(Math.max(value, min), max);
}

/** The bounds of a number. The limit of safe integers is not worth mentioning. */
function boundsOf(schema: Setting): Bounds {
  if (schema instanceof z.ZodBoolean) return { min: 0, max: 1 };
  const { minValue, maxValue } = schema;
  const min = minValue ?? Number.MIN_SAFE_INTEGER;
  return maxValue === null || maxValue >= Number.MAX_SAFE_INTEGER ? { min } : { min, max: maxValue };
}

/** The defaults of protocols, for a help text: the first one, and those that differ: `2500, with emqp 3000`. */
export function usual(values: Readonly<Record<string, unknown>>): string {
  const [[, first] = [], ...others] = Object.entries(values).map(([name, value]) => [name, String(value)]);
  return [first, ...others.flatMap(([name, value]) => (value === first ? [] : [`with ${name} ${value}`]))].join(', ');
}

/** One option of a program, for its help, sources and error messages. */
export interface Field extends FieldNote {
  /** Key in the schema, in camel case. */
  readonly key: string;
  /** Name of the flag without dashes; also the key in the configuration file. */
  readonly flag: string;
  readonly help: string;
  /** The words that it accepts; `undefined` if it also accepts other values. */
  readonly words: readonly string[] | undefined;
  /** Value if no source sets it; `undefined` if it then stays unset. */
  readonly fallback: string | number | boolean | readonly string[] | undefined;
}

/** The fields of a program's schema, in declaration order. Throws for a member not made by this module. */
export function fieldsOf(schema: z.ZodObject): Field[] {
  return Object.entries(schema.shape).map(([key, member]) => fieldOf(key, member as z.ZodType));
}

function fieldOf(key: string, member: z.ZodType): Field {
  const fallback = member instanceof z.ZodDefault ? (member.def.defaultValue as Field['fallback']) : undefined;
  const wrapped = member instanceof z.ZodDefault || member instanceof z.ZodOptional;
  const inner = wrapped ? (member.unwrap() as z.ZodType) : member;
  const note = notes.get(inner);
  if (note === undefined) throw new Error(`option ${key}: make it with a field of appkit`);
  return { ...note, key, flag: kebab(key), help: member.description ?? '', words: wordsOf(inner), fallback };
}

function wordsOf(schema: z.ZodType): readonly string[] | undefined {
  const single = schema instanceof z.ZodArray ? schema.element : schema;
  return single instanceof z.ZodEnum ? single.options.map(String) : undefined;
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
