/** The calls about what guides a process: its surroundings. */
import { COORDINATOR } from "../../abi/child.ts";
import type { Surroundings } from "../../abi/surroundings.ts";
import type { Call } from "../gate/call.ts";
import type { Guidance, Guided } from "../ports/guides.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Permit, Subject } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import { type ForkRights, mayFork } from "../process/spawn/fork.ts";
import { type Granting, subjectOf } from "../process/subject.ts";
import { scratchpadOf } from "../process/tree/scratchpad.ts";

interface Guiding extends Granting, ForkRights {
  readonly ports: Granting["ports"] & Pick<KernelPorts, "exec" | "guides">;
}

const NOTHING: Guidance = { git: "", instructions: [], notices: [] };

/** One answer for a process, its threads and its coroutines, so that their requests begin with the same bytes. */
const known = new WeakMap<Process, Promise<Surroundings>>();

const surroundings: Call<"surroundings", Record<never, never>, Guiding, Process> = {
  name: "Surroundings",
  quiet: true,
  take: () => ({}),
  args: () => ({}),
  run: ({ core, self }) => {
    const found = known.get(self) ?? look(core, self);
    known.set(self, found);
    return found;
  },
};

async function look(core: Guiding, self: Process): Promise<Surroundings> {
  const { cwd, scratch } = self.seed;
  const scratchpad = scratchpadOf(core.ports, self);
  const allowed = core.ports.permitFor(cwd).confinement?.(subjectOf(core, self)) ?? null;
  const { sandbox } = core.ports.exec;
  const by = sandbox?.available === true ? { kind: sandbox.kind } : {};
  const confinement = allowed === null ? null : { ...allowed, ...by };
  const forks = mayFork(core, self) ? { mayFork: true as const } : {};
  const found = await core.ports.guides?.around({ ...guidedOf(core, self), ...forks });
  const permit = core.ports.permitFor(cwd);
  const subject = subjectOf(core, self);
  const agents = found?.agents?.filter(({ name }) => mayStart(permit, subject, name));
  return {
    ...(found ?? NOTHING),
    ...(agents === undefined ? {} : { agents }),
    ...{ confinement, scratch },
    ...(scratchpad === null ? {} : { scratchpad }),
  };
}

/** An agent that a rule denies is not told of. */
function mayStart(permit: Permit, subject: Subject, program: string): boolean {
  const request = { tool: "agent", effects: [{ kind: "spawn", program, background: false }] } as const;
  return permit.decide(subject, request).behavior !== "deny";
}

const nearby: Call<"nearby", { dirs: readonly string[] }, Guiding, Process> = {
  name: "Nearby",
  quiet: true,
  take: (dirs) => ({ dirs }),
  args: ({ dirs }) => ({ dirs: dirs.length }),
  run: async ({ core, self }, { dirs }) =>
    (await core.ports.guides?.near(guidedOf(core, self), dirs)) ?? { instructions: [], notices: [] },
};

export function guidedOf(core: Granting, self: Process): Guided {
  const { pid, seed } = self;
  const { cwd, env, agents = {}, agent, rights } = seed;
  return {
    ...{ pid, cwd, env, agents, hasAgent: agent !== null },
    ...(agent?.manifest.name === COORDINATOR ? { givesWork: true as const } : {}),
    // what the user turned off for it alone, its program leaves out, and has again at once
    ...(rights.noMemory === true ? { noMemory: true as const } : {}),
    denied: (path) => ruleAgainst(core, self, path),
    ...(rights.notes === undefined ? {} : { notes: rights.notes }),
  };
}

/** Only a deny counts: what would be asked about is read, because it is the user who put it there. */
function ruleAgainst(core: Granting, self: Process, path: string): string | undefined {
  const request = { tool: "view", effects: [{ kind: "read", path, real: path }] } as const;
  const decision = core.ports.permitFor(self.seed.cwd).decide(subjectOf(core, self), request);
  const isDenied = decision.behavior === "deny" && decision.reason.kind === "rule";
  return isDenied ? decision.reason.detail : undefined;
}

export const guideCalls = { surroundings, nearby };
