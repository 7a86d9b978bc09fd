/** Writes a specification to the journal and reads it back, without environments (possible secrets) and input data. */
import type { ChildSpec, ChildStart, SupervisorSpec } from "../abi/supervise.ts";
import type { SpawnOpts } from "../abi/sys.ts";
import { type CheckedChild, type CheckedSpec, checkSpec } from "./spec.ts";

type Body = Readonly<Record<string, unknown>>;

export function recordOfSpec(spec: CheckedSpec): Body {
  return { ...spec, children: spec.children.map(recordOfChild) };
}

function recordOfChild({ start, ...child }: CheckedChild): Body {
  switch (start.kind) {
    case "supervisor":
      return { ...child, supervisor: recordOfSpec(start.spec) };
    case "agent": {
      const { agent, intent, opts } = start;
      return { ...child, agent: agent ?? null, intent, ...recordOfOpts(opts) };
    }
    case "native": {
      const { env, ...options } = start.options;
      return { ...child, command: start.command, options, ...recordOfOpts(start.opts, env) };
    }
    case "withheld":
      return { ...child, withheld: start.reason };
  }
}

function recordOfOpts({ env, stdin, ...opts }: SpawnOpts, own?: unknown): Body {
  return {
    opts,
    ...(env === undefined && own === undefined ? {} : { hadEnv: true }),
    ...(stdin === undefined ? {} : { hadInput: true }),
  };
}

/** A specification as far as it was recorded; what is missing is marked at each child. */
interface ReadSpec {
  readonly spec: CheckedSpec;
  /** Ids of children that had their own environment. */
  readonly bare: readonly string[];
}

/**
 * A child that had input data is withheld, as the data was not kept. Environments are those of the daemon. INVALID: not
 * a specification.
 */
export function specOfRecord(record: unknown): ReadSpec {
  const { children: recorded, name, ...rest } = record as Body;
  const children = (recorded ?? []) as readonly Body[];
  // names given by the kernel have a prefix, which checkSpec does not accept
  const given = { ...rest, name: "restored", children: children.map(childOfRecord) };
  const checked = checkSpec(given as unknown as SupervisorSpec);
  const held = checked.children.map((child, at) => withheld(child, children[at]));
  const spec = { ...checked, name: String(name), children: held };
  return { spec, bare: children.filter(({ hadEnv }) => hadEnv === true).map(({ id }) => String(id)) };
}

function childOfRecord(record: Body): ChildSpec {
  const { id, restart, shutdown } = record;
  return { id, restart, shutdown, start: startOfRecord(record) } as ChildSpec;
}

function startOfRecord({ agent, intent, opts, command, options, supervisor, ...more }: Body): ChildStart {
  if (more.withheld !== undefined) return { command: ["withheld"] };
  if (supervisor !== undefined) {
    const nested = supervisor as Body;
    const children = (nested.children ?? []) as readonly Body[];
    return { supervisor: { ...nested, children: children.map(childOfRecord) } as unknown as SupervisorSpec };
  }
  if (command !== undefined) return { command, options, opts } as ChildStart;
  return { ...(agent === null ? {} : { agent }), intent, opts } as ChildStart;
}

function withheld(child: CheckedChild, record: Body = {}): CheckedChild {
  if (typeof record.withheld === "string")
    return { ...child, start: { kind: "withheld", reason: record.withheld } };
  if (record.hadInput === true)
    return { ...child, start: { kind: "withheld", reason: "what it was given to read is gone" } };
  if (child.start.kind !== "supervisor") return child;
  const recorded = (record.supervisor as Body).children as readonly Body[];
  const { spec } = child.start;
  const children = spec.children.map((inner, at) => withheld(inner, recorded[at]));
  return { ...child, start: { kind: "supervisor", spec: { ...spec, children } } };
}
