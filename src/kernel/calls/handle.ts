/** The handle of one process: every call is one passage through the gate. A scoped handle has narrower rights. */
import type { Pid } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
import type { CallName, ResultOf } from "../gate/call.ts";
import { type Entrant, enter, type KernelCall } from "../gate/gate.ts";
import { contextCalls } from "./context.ts";
import { contextViewCalls } from "./context-view.ts";
import { coroutineCalls } from "./coroutine.ts";
import { fileCalls } from "./file.ts";
import { groupCalls } from "./group.ts";
import { guideCalls } from "./guide.ts";
import { mailCalls } from "./mail.ts";
import { mountCalls } from "./mount.ts";
import { pipe } from "./pipe.ts";
import { processCalls } from "./process.ts";
import { listProcs } from "./process-list.ts";
import { signalCalls } from "./signal.ts";
import { spawnSupervisor } from "./supervisor.ts";
import { threadCalls } from "./thread.ts";
import { sleep } from "./timer.ts";

const CALLS: { readonly [Name in CallName]: KernelCall<Name, unknown> } = {
  ...processCalls,
  listProcs,
  spawnSupervisor,
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
};

export function handleFor(entrant: Entrant): Syscalls {
  // the methods are defined from the table, which has every call
  return new Handle(entrant) as unknown as Syscalls;
}

class Handle {
  readonly #entrant: Entrant;

  static {
    for (const [method, call] of Object.entries<KernelCall<CallName, unknown>>(CALLS))
      Object.defineProperty(Handle.prototype, method, {
        value(this: Handle, ...given: Parameters<typeof call.take>) {
          return this.#enter(call, given);
        },
      });
  }

  constructor(entrant: Entrant) {
    this.#entrant = entrant;
  }

  getPid(): Pid {
    return this.#entrant.self.pid;
  }

  #enter<Name extends CallName>(
    call: KernelCall<Name, unknown>,
    given: Parameters<typeof call.take>,
  ): Promise<ResultOf<Name>> {
    const all: readonly unknown[] = given;
    const signal = all.find((each) => each instanceof AbortSignal);
    return enter({ ...this.#entrant, call, args: call.take(...given), signal });
  }
}
