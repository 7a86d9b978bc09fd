/**
 * `crux version` without any flag. It needs so little of the client that it has a file of its own, which loads in a
 * fraction of the time.
 */
import { Console } from "../../console.ts";
import { quickStreams, type Streams } from "../../host/quick-output.ts";
import { sayVersion } from "./version.ts";

export async function versionAlone(version: string, streams: () => Streams): Promise<number> {
  const { env } = process;
  await sayVersion({ version, env }, new Console({ env, ...quickStreams(streams) }, "default", false));
  return 0;
}
