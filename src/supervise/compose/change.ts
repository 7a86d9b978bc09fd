/** What `up` does to a project that runs: who stays, who starts, who goes. Pure. */
import type { ComposeProject, ComposeService } from "../../abi/compose/compose.ts";

/** A service of the project that runs. */
export interface Standing {
  /** Of its definition and of its pipes, when it was started. */
  readonly signature: string;
  /** Ids of its replicas. */
  readonly ids: readonly string[];
  /** Those that neither run, nor wait to, nor have completed. */
  readonly idle: readonly string[];
}

export interface Seat {
  readonly service: ComposeService;
  /** From 1. */
  readonly n: number;
}

export interface ProjectChange {
  /** Ids of what is shut down and forgotten: what is replaced, and what is not to be there any more. */
  readonly leave: readonly string[];
  /** In the order of the file: new ones, changed ones, those that did not run. */
  readonly start: readonly Seat[];
  /** Services that leave for good. */
  readonly stop: readonly string[];
  /** Readers whose pipe begins anew. */
  readonly fresh: ReadonlySet<string>;
}

interface Choice {
  /** Services that are to run. */
  readonly selected: ReadonlySet<string>;
  /** Those that the file does not name any more leave. */
  readonly removeOrphans: boolean;
}

/**
 * Unchanged services stay. A pipe cannot be entered in the middle: where a writer starts, its reader does so too, and with it
 * the reader's other writers. A reader that starts alone reads again what its pipe has kept.
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

/** Along the pipes, until nobody is added any more. */
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

/** The same for what means the same, in whatever order its keys stand. */
export function signatureOf(service: ComposeService, { pipes }: ComposeProject): string {
  const own = pipes.filter(({ from, to }) => from === service.name || to === service.name);
  return JSON.stringify([service, own], (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** The services asked for, none: all, and what they depend on. Unknown names are passed to `onUnknown`. */
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

/** Names so that each stands after what it depends on; else as they were. */
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
