/** SpawnThread(intent): a second reasoning loop in the caller. It has all the caller's rights and spends from its account. */
import { SyscallError } from "../../abi/errors.ts";
import type { Tid } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { checkCovered } from "../gate/covers.ts";
import type { Scope } from "../gate/scope.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { threadsOf } from "../process/threads.ts";

export const spawnThread: Call<{ intent: string; maxTurns: number }, Tid> = {
  name: "SpawnThread",
  holds: true,
  args: ({ intent }) => ({ intent }),
  result: (tid) => tid,
  run(core, self, { intent, maxTurns }, pass) {
    checkArguments(self, intent, maxTurns);
    if (pass.scope !== null) checkDeclared(self, pass.scope);
    return threadsOf(self).spawn(core, self, intent, maxTurns, pass.signal);
  },
};

function checkArguments(self: Process, intent: string, maxTurns: number): void {
  if (self.modelDevice === "")
    throw invalid(self, `a process of kind ${self.seed.kind} has no reasoning loop`);
  if (intent.trim() === "") throw invalid(self, "intent is empty");
  const bytes = Buffer.byteLength(intent);
  if (bytes > LIMITS.intentBytes)
    throw invalid(self, `intent of ${bytes} bytes; at most ${LIMITS.intentBytes}`);
  if (!Number.isInteger(maxTurns) || maxTurns < 0) throw invalid(self, `not a step limit: ${maxTurns}`);
}

/** A thread is not bound by the one call of a program under /bin: only one that declared a start of this agent may. */
function checkDeclared(self: Process, scope: Scope): void {
  const program = self.seed.body.name;
  const effect = { kind: "spawn", program, background: true } as const;
  checkCovered(self, { syscall: "SpawnThread", device: program }, [effect], scope);
}

function invalid(self: Process, message: string): SyscallError {
  return new SyscallError({ syscall: "SpawnThread", pid: self.pid, code: "INVALID", message });
}
