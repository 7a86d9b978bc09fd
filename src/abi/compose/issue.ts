/** Error messages for what a schema rejects in a compose file: the path of the field, what is wrong, how to fix it. */
import type * as z from "zod";
import { nearNames } from "../../lib/text/near-names.ts";
import { Fault } from "../errors.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  array: "a list",
  tuple: "a list",
  object: "a mapping",
  record: "a mapping",
};

/** `keysAt` returns the known keys of the mapping at a path. */
export function toComposeFault(
  error: z.ZodError,
  file: unknown,
  keysAt: (path: Path) => readonly string[],
): Fault {
  const [first] = error.issues;
  const issue = first === undefined ? undefined : innermost(first);
  if (issue === undefined) return invalid("compose file: not valid");
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    return invalid(
      `${pathOf([...issue.path, key])}: unknown key`,
      hintFor(key, issue.path, keysAt(issue.path)),
    );
  }
  return invalid(`${pathOf(issue.path) || "compose file"}: ${wordsOf(issue, valueAt(file, issue.path))}`);
}

/** Keys that services have in other compose formats, and their equivalents here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  healthcheck: "ready says when a service is ready: `ready: { stdout: <pattern> }` for a command",
  environment: "env holds the variables of a command",
  env_file: "env holds the variables of a command",
  entrypoint: "command is the program and its arguments, as a list",
  image: "a service is an agent or a program of this machine: command, or intent",
  build: "a service is an agent or a program of this machine: command, or intent",
  working_dir: "cwd is the working directory",
  deploy: "replicas says how many, restart when it is started again",
  scale: "replicas says how many",
  stop_grace_period: "shutdown_ms is the time between SIGTERM and SIGKILL",
};

function hintFor(key: string, path: Path, known: readonly string[]): string | undefined {
  const isOfService = path.length === 2 && path[0] === "services";
  const elsewhere = isOfService && Object.hasOwn(ELSEWHERE, key) ? ELSEWHERE[key] : undefined;
  return elsewhere ?? near(key, known);
}

export function invalid(message: string, hint?: string): Fault {
  return new Fault({ code: "INVALID", message, hint });
}

/** `services.writer.command[3]` */
export function pathOf(path: Path): string {
  return path
    .map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${shown(String(key))}`))
    .join("");
}

export function near(name: string, known: readonly string[]): string | undefined {
  const [best] = nearNames(name, known, Math.min(2, Math.ceil((name.length - 1) / 4)));
  return best === undefined ? undefined : `did you mean ${best}?`;
}

/** A name from the file, cut to a bounded length. */
function shown(name: string): string {
  return name.slice(0, 128);
}

/** For a union, the issue of the alternative that matched furthest. */
function innermost(issue: Issue): Issue {
  if (issue.code === "invalid_key" && issue.issues[0] !== undefined)
    return { ...issue.issues[0], path: issue.path };
  if (issue.code !== "invalid_union") return issue;
  const deepest = issue.errors
    .flatMap(([first]) => (first === undefined ? [] : [innermost(first)]))
    .reduce<Issue | undefined>(
      (best, next) => (next.path.length > (best?.path.length ?? 0) ? next : best),
      undefined,
    );
  return deepest === undefined ? issue : { ...deepest, path: [...issue.path, ...deepest.path] };
}

function wordsOf(issue: Issue, value: unknown): string {
  if (value === undefined) return "is missing";
  if (value === null) return "is empty";
  switch (issue.code) {
    case "invalid_type":
      return kindWords(KINDS[issue.expected] ?? issue.expected, value);
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_union":
      return "must be a list or a mapping";
    case "too_small":
    case "too_big":
      return sizeWords(issue);
    default:
      return issue.message;
  }
}

function kindWords(kind: string, value: unknown): string {
  const quotes = kind === "text" && typeof value !== "object" ? `: write "${String(value)}" in quotes` : "";
  return `must be ${kind}${quotes}`;
}

function sizeWords(issue: Extract<Issue, { code: "too_small" | "too_big" }>): string {
  const [word, limit] = issue.code === "too_small" ? ["at least", issue.minimum] : ["at most", issue.maximum];
  if (issue.origin === "string")
    return issue.code === "too_small" ? "must not be empty" : `${word} ${limit} characters`;
  if (issue.origin === "array") return `needs ${word} ${limit} items`;
  return `must be ${issue.inclusive === false ? "more than" : word} ${limit}`;
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const key of path)
    at = typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined;
  return at;
}
