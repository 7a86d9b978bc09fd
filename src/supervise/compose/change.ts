/** Plans what `up` does to a running project: which replicas stay, start or leave. Pure. */
import type { ComposeProject, ComposeService } from "../../abi/compose/compose.ts";

/** A service of the running project. */
export interface Standing {
  /** The signature of its definition and its pipes when it was started. */
  readonly signature: string;
  /** Ids of its replicas. */
  readonly ids: readonly string[];
  /** The ids that neither run, nor wait for a start, nor have completed. */
  readonly idle: readonly string[];
}

export interface Seat {
  readonly service: ComposeService;
  /** The number of the replica, from 1. */
  readonly n: number;
}

export interface ProjectChange {
  /** Ids of replicas to shut down and forget: replaced and removed ones. */
  readonly leave: readonly string[];
  /** Replicas to start, in the order of the file: new, changed and idle ones. */
  readonly start: readonly Seat[];
  /** Services that are removed. */
  readonly stop: readonly string[];
  /** Readers that get a new, empty pipe. */
  readonly fresh: ReadonlySet<string>;
}

interface Choice {
  /** The services to run. */
  readonly selected: ReadonlySet<string>;
  /** Removes services that are no longer in the file. */
  readonly removeOrphans: boolean;
}

/**
 * Unchanged services stay. A pipe must begin with all its writers: if a writer starts, its reader starts again too, and
 * so do the reader's other writers. A reader that starts alone reads again what its pipe has kept.
 */
export function planChange(
  standing: ReadonlyMap<string, Standing>,
  wanted: ComposeProject,
  { selected, removeOrphans }: Choice,
): ProjectChange {
  const whole = new Set<string>();
  const some = new Map<string, readonly string[]>();
  for (const service of wanted.services.filter(({ name }) => selected.has(name))) {
    const now = standing.get(service.name);
    if (now === undefined || now.signature !== signatureOf(service, wanted)) whole.add(service.name);
    else if (now.idle.length > 0) some.set(service.name, now.idle);
  }
  const isThere = (name: string): boolean => standing.has(name) || selected.has(name);
  const fresh = spread(wanted, isThere, { whole, some });
  const start = wanted.services
    .flatMap(seatsOf)
    .filter((seat) => whole.has(seat.service.name) || some.get(seat.service.name)?.includes(idOf(seat)));
  const named = new Set(wanted.services.map(({ name }) => name));
  const stop = removeOrphans ? [...standing.keys()].filter((name) => !named.has(name)) : [];
  const replaced = [...whole, ...stop].flatMap((name) => standing.get(name)?.ids ?? []);
  return { leave: [...new Set([...replaced, ...[...some.values()].flat()])], start, stop, fresh };
}

export function seatsOf(service: ComposeService): Seat[] {
  return Array.from({ length: service.replicas }, (_, at) => ({ service, n: at + 1 }));
}

export function idOf({ service, n }: Seat): string {
  return `${service.name}-${n}`;
}

/** Adds services along the pipes until none is added any more; returns the readers with a new pipe. */
function spread(
  { pipes }: ComposeProject,
  isThere: (name: string) => boolean,
  { whole, some }: { readonly whole: Set<string>; readonly some: ReadonlyMap<string, unknown> },
): ReadonlySet<string> {
  const fresh = new Set<string>();
  for (let before = -1; before !== fresh.size + whole.size; ) {
    before = fresh.size + whole.size;
    for (const { from, to } of pipes) {
      if ((whole.has(from) || some.has(from)) && isThere(to)) fresh.add(to);
      if (!fresh.has(to)) continue;
      whole.add(to);
      if (isThere(from)) whole.add(from);
    }
  }
  return fresh;
}

/** A text that is equal for equal definitions and pipes, whatever the order of keys. */
export function signatureOf(service: ComposeService, { pipes }: ComposeProject): string {
  const own = pipes.filter(({ from, to }) => from === service.name || to === service.name);
  return JSON.stringify([service, own], (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** The services in `asked` (empty: all) and their dependencies. Unknown names are passed to `onUnknown`. */
export function withDependencies(
  { services }: ComposeProject,
  asked: readonly string[],
  onUnknown: (name: string) => never,
): ReadonlySet<string> {
  const byName = new Map(services.map((service) => [service.name, service]));
  const selected = new Set<string>();
  const queue = asked.length === 0 ? [...byName.keys()] : [...asked];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (selected.has(name)) continue;
    selected.add(name);
    queue.push(...Object.keys((byName.get(name) ?? onUnknown(name)).dependsOn));
  }
  return selected;
}

/** The names, each after its dependencies; otherwise in the given order. */
export function startOrder(services: readonly ComposeService[]): string[] {
  const byName = new Map(services.map((service) => [service.name, service]));
  const seen = new Set<string>();
  const ordered: string[] = [];
  const visit = (name: string): void => {
    const service = byName.get(name);
    if (service === undefined || seen.has(name)) return;
    seen.add(name);
    for (const needed of Object.keys(service.dependsOn)) visit(needed);
    ordered.push(name);
  };
  for (const { name } of services) visit(name);
  return ordered;
}
