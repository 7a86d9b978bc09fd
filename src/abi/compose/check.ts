/** Checks across the keys of a compose file: programs, references, pipes, and that nothing waits for itself. */
import { type Edge, findCycle } from "./graph.ts";
import { invalid, near } from "./issue.ts";
import type { ComposeFile, ServiceEntry } from "./schema.ts";

/** The most children that a supervisor can have. */
const MAX_CHILDREN = 1_000;

const AGENT_KEYS = ["agent", "intent", "model", "system_prompt", "max_steps"] as const;

/** Throws INVALID with the path of the first error. */
export function checkComposeFile(file: ComposeFile): void {
  for (const [name, entry] of Object.entries(file.services)) {
    const path = `services.${name}`;
    checkProgram(path, entry);
    checkReady(path, entry);
    checkDependencies(path, entry, file);
  }
  for (const [at, pipe] of file.pipes.entries()) checkPipe(pipe, at, file);
  checkCycle(file);
  const children = Object.values(file.services).reduce((sum, { replicas }) => sum + replicas, 0);
  if (children > MAX_CHILDREN)
    throw invalid(`services: ${children} replicas in all; at most ${MAX_CHILDREN}`);
}

function checkProgram(path: string, entry: ServiceEntry): void {
  if (entry.command === undefined) {
    if (entry.intent === undefined) throw invalid(`${path}.intent: is missing`, "or give it a command");
    if (Object.keys(entry.env).length > 0) throw invalid(`${path}.env: only a command has one`);
    return;
  }
  const key = AGENT_KEYS.find((name) => entry[name] !== undefined && entry[name] !== 0);
  if (key !== undefined)
    throw invalid(`${path}.${key}: not beside command: a service is an agent or a program`);
}

function checkReady(path: string, { command, ready }: ServiceEntry): void {
  if (ready === undefined) return;
  if (command === undefined && ready.stdout !== undefined)
    throw invalid(`${path}.ready.stdout: only a command has one; an agent is ready after its first step`);
  if (command !== undefined && ready.stdout === undefined)
    throw invalid(`${path}.ready.stdout: is missing`, "a pattern that a line of its stdout matches");
}

function checkDependencies(path: string, entry: ServiceEntry, { services }: ComposeFile): void {
  for (const [name, condition] of Object.entries(entry.depends_on)) {
    const needed = serviceAt(`${path}.depends_on`, name, services);
    if (condition === "ready" && needed.command !== undefined && needed.ready === undefined)
      throw invalid(
        `${path}.depends_on: ${name} never reports that it is ready`,
        `give it services.${name}.ready.stdout, or use started or completed`,
      );
  }
}

function checkPipe(pipe: ComposeFile["pipes"][number], at: number, file: ComposeFile): void {
  const path = `pipes[${at}]`;
  const writer = serviceAt(`${path}.from`, pipe.from, file.services);
  const reader = serviceAt(`${path}.to`, pipe.to, file.services);
  if (reader.replicas > 1)
    throw invalid(`${path}.to: ${pipe.to} has ${reader.replicas} replicas; a pipe has one reader`);
  if (pipe.stream !== undefined && (pipe.stream === "result") !== (writer.command === undefined))
    throw invalid(
      `${path}.stream: ${pipe.from} has no ${pipe.stream}`,
      "a command has stdout and stderr, an agent its result",
    );
  const same = file.pipes.findIndex(
    (other) =>
      other.from === pipe.from && other.to === pipe.to && streamOf(other, file) === streamOf(pipe, file),
  );
  if (same < at) throw invalid(`${path}: the same as pipes[${same}]`);
}

export function streamOf({ from, stream }: ComposeFile["pipes"][number], { services }: ComposeFile) {
  return stream ?? (services[from]?.command === undefined ? "result" : "stdout");
}

function serviceAt(path: string, name: string, services: ComposeFile["services"]): ServiceEntry {
  const found = Object.hasOwn(services, name) ? services[name] : undefined;
  if (found === undefined)
    throw invalid(`${path}: unknown service ${name}`, near(name, Object.keys(services)));
  return found;
}

/**
 * The reader of a pipe depends on its writers, like a service in depends_on: a cycle would never start, or never end.
 */
function checkCycle({ services, pipes }: ComposeFile): void {
  const edges: Array<Edge & { readonly path: string; readonly isPipe: boolean }> = [
    ...Object.entries(services).flatMap(([from, { depends_on }]) =>
      Object.keys(depends_on).map((to) => ({ from, to, path: `services.${from}.depends_on`, isPipe: false })),
    ),
    ...pipes.map((pipe, at) => ({ from: pipe.to, to: pipe.from, path: `pipes[${at}]`, isPipe: true })),
  ];
  const cycle = findCycle(Object.keys(services), edges);
  const [first] = cycle ?? [];
  if (cycle === undefined || first === undefined) return;
  const ring = cycle.map(({ from }) => from);
  // a cycle of pipes only is shown in the direction of the data
  const isFlow = cycle.every(({ isPipe }) => isPipe);
  const names = isFlow ? [first.to, first.from, ...ring.slice(1).reverse()] : [...ring, first.from];
  throw invalid(`${first.path}: cycle ${names.join(" → ")}`);
}
