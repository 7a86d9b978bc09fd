/** The handle of one process: every call is one passage through the gate. A scoped handle has narrower rights. */
import type { Pid } from "../../abi/ids.ts";
import type { Sys, Syscalls } from "../../abi/sys.ts";
import type { CallName, ResultOf } from "../gate/call.ts";
import { type Entrant, enter, type KernelCall, type Timed } from "../gate/gate.ts";
import { contextCalls } from "./context.ts";
import { contextViewCalls } from "./context-view.ts";
import { fileCalls } from "./file.ts";
import { groupCalls } from "./group.ts";
import { guideCalls } from "./guide.ts";
import { mailCalls } from "./mail.ts";
import { mountCalls } from "./mount.ts";
import { pipe } from "./pipe.ts";
import { processCalls } from "./process.ts";
import { listProcs } from "./process-list.ts";
import { signalCalls } from "./signal.ts";
import { coroutineCalls, threadCalls } from "./thread.ts";
import { sleep } from "./timer.ts";

const CALLS = {
  ...processCalls,
  listProcs,
  ...signalCalls,
  ...groupCalls,
  ...mailCalls,
  sleep,
  pipe,
  ...threadCalls,
  ...coroutineCalls,
  ...mountCalls,
  ...fileCalls,
  ...contextCalls,
  ...contextViewCalls,
  ...guideCalls,
} satisfies { readonly [Name in Exclude<CallName, "spawnSupervisor">]: unknown };

/** The part of the kernel that a call uses. */
type NeedOf<C> = C extends { run(pass: { readonly core: infer Kernel }, args: never): unknown }
  ? Kernel
  : never;
type All<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer Every) => void
  ? Every
  : never;

/** The parts of the kernel that the calls of this room use. */
type Calling = All<NeedOf<(typeof CALLS)[keyof typeof CALLS]>>;

/** A call of the table, whatever its arguments and needs. */
type AnyCall = KernelCall<CallName, unknown, Timed>;

/** The same without its arguments, which only the call itself knows. */
type SupervisorCall<Kernel> = Pick<KernelCall<"spawnSupervisor", unknown, Kernel>, "run">;

/** What the handle of a program has beside the system calls: its own calls get `held`. */
interface OwnParts {
  readonly held: unknown;
  readonly ending: AbortSignal;
}

type OwnCall = (held: unknown, ...given: readonly unknown[]) => unknown;

/** Makes the handles of a kernel; only those of programs have own calls. */
interface Handles<Kernel> {
  of(entrant: Entrant<Kernel>): Syscalls;
  ofProgram(entrant: Entrant<Kernel>, own: OwnParts): Sys;
}

/**
 * Supervisors stand on the kernel, so their call is added to the table. Own calls are methods too: functions of each handle
 * would take kilobytes for each agent.
 */
export function handlesWith<Kernel extends Timed>(
  spawnSupervisor: SupervisorCall<Kernel>,
  ownCalls: Readonly<Record<string, (held: never, ...given: never[]) => unknown>>,
): Handles<Calling & Kernel> {
  // `entrant` has what each of them needs
  const calls = { ...CALLS, spawnSupervisor } as unknown as Readonly<Record<string, AnyCall>>;
  class Handle {
    readonly #entrant: Entrant<Calling & Kernel>;
    readonly #own: OwnParts | undefined;

    static {
      for (const [method, call] of Object.entries(calls))
        Object.defineProperty(Handle.prototype, method, {
          value(this: Handle, ...given: Parameters<typeof call.take>) {
            return this.#enter(call, given);
          },
        });
      for (const [method, call] of Object.entries(ownCalls as Readonly<Record<string, OwnCall>>))
        Object.defineProperty(Handle.prototype, method, {
          value(this: Handle, ...given: readonly unknown[]) {
            return call(this.#own?.held, ...given);
          },
          writable: true,
        });
    }

    constructor(entrant: Entrant<Calling & Kernel>, own?: OwnParts) {
      this.#entrant = entrant;
      this.#own = own;
    }

    get ending(): AbortSignal | undefined {
      return this.#own?.ending;
    }

    getPid(): Pid {
      return this.#entrant.self.pid;
    }

    #enter(call: AnyCall, given: Parameters<typeof call.take>): Promise<ResultOf<CallName>> {
      const all: readonly unknown[] = given;
      const signal = all.find((each) => each instanceof AbortSignal);
      return enter({ ...this.#entrant, call, args: call.take(...given), signal });
    }
  }
  // the methods are defined from the tables, which have every call
  return {
    of: (entrant) => new Handle(entrant) as unknown as Syscalls,
    ofProgram: (entrant, own) => new Handle(entrant, own) as unknown as Sys,
  };
}
