/** The handle of one process: every call is one passage through the gate. A scoped handle has narrower rights. */
import type { Pid } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
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

/** Makes the handles of a kernel. Supervisors stand on the kernel, so their call is added to the table. */
export function handlesWith<Kernel extends Timed>(
  spawnSupervisor: SupervisorCall<Kernel>,
): (entrant: Entrant<Calling & Kernel>) => Syscalls {
  // `entrant` has what each of them needs
  const calls = { ...CALLS, spawnSupervisor } as unknown as Readonly<Record<string, AnyCall>>;
  class Handle {
    readonly #entrant: Entrant<Calling & Kernel>;

    static {
      for (const [method, call] of Object.entries(calls))
        Object.defineProperty(Handle.prototype, method, {
          value(this: Handle, ...given: Parameters<typeof call.take>) {
            return this.#enter(call, given);
          },
        });
    }

    constructor(entrant: Entrant<Calling & Kernel>) {
      this.#entrant = entrant;
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
  // the methods are defined from the table, which has every call
  return (entrant) => new Handle(entrant) as unknown as Syscalls;
}
