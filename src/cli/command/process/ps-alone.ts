/** `crux ps` without any flag, which is called often: in a file of its own, as `crux version` is (version-alone.ts). */
import { parseFlags } from "../../args.ts";
import { Console } from "../../console.ts";
import type { Host } from "../../host/host.ts";
import { nodeHost } from "../../host/node-host.ts";
import { quickStreams, type Streams } from "../../host/quick-output.ts";
import { ps } from "./ps.ts";

export async function psAlone(version: string, streams: () => Streams): Promise<number> {
  const host = nodeHost(version, noOther, quickStreams(streams));
  const console = new Console(host, "default", false);
  try {
    return await ps.run({ args: parseFlags([], ps.flags), console, host });
  } catch (error) {
    await console.fail(error);
    return 1;
  }
}

const noOther: Host["command"] = async () => {
  throw new Error("crux ps runs no other command");
};
