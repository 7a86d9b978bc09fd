/** Spawn(agent, intent, model): a new process. The steps are in process/spawn.ts. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { Pid } from "../../abi/ids.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { spawnProcess } from "../process/spawn.ts";
import type { Call } from "./call.ts";

export const spawn: Call<{ intent: string; agent: AgentInfo | null; opts: SpawnOpts }, Pid> = {
  name: "Spawn",
  args: ({ agent, intent, opts }) => ({ agent: agent?.manifest.name ?? "", intent, model: opts.model ?? "" }),
  result: (pid) => pid,
  async run(core, self, { intent, agent, opts }, pass) {
    return (await spawnProcess(core, self, intent, agent, opts, pass.signal)).pid;
  },
};
