/** Spawn(agent, intent, model): a new process. The steps are in process/spawn.ts. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { Pid } from "../../abi/ids.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { Process } from "../process/process.ts";
import { spawnProcess } from "../process/spawn.ts";
import type { Call, Scope } from "./call.ts";
import { checkCovered } from "./covers.ts";

export const spawn: Call<{ intent: string; agent: AgentInfo | null; opts: SpawnOpts }, Pid> = {
  name: "Spawn",
  holds: true,
  args: ({ agent, intent, opts }) => ({ agent: agent?.manifest.name ?? "", intent, model: opts.model ?? "" }),
  result: (pid) => pid,
  async run(core, self, { intent, agent, opts }, pass) {
    if (pass.scope !== null) checkDeclared(self, agent, pass.scope);
    return (await spawnProcess(core, self, intent, agent, opts, pass.signal)).pid;
  },
};

/** A program under /bin starts only what it said it would. */
function checkDeclared(self: Process, agent: AgentInfo | null, scope: Scope): void {
  const program = agent?.manifest.name ?? "";
  const effect = { kind: "spawn", program, background: false } as const;
  checkCovered(self, { syscall: "Spawn", device: program }, [effect], scope);
}
