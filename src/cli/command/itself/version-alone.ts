/**
 * `crux version` without any flag. It needs so little of the client that it has a file of its own, which loads in a
 * fraction of the time.
 */
import { Console } from "../../console.ts";
import { quickOutput } from "../../host/quick-output.ts";
import { sayVersion } from "./version.ts";

/** `streams`: those of this process, once it handles their errors. */
export async function versionAlone(
  version: string,
  streams: () => Pick<NodeJS.Process, "stdout" | "stderr">,
): Promise<number> {
  const { env } = process;
  const stdout = quickOutput(1, () => streams().stdout);
  const stderr = quickOutput(2, () => streams().stderr);
  await sayVersion({ version, env }, new Console({ env, stdout, stderr }, "default", false));
  return 0;
}
