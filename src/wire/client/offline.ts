/** Work on a journal that no daemon has open, in a child process that holds the daemon's lock meanwhile. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Fault } from "../../abi/errors.ts";
import type { WireStreamLine } from "../../abi/wire.ts";
import type { Environment } from "../../lib/paths.ts";

interface OfflineOptions {
  readonly env: Environment;
  /** The command that runs this program again; default: as it was started itself. */
  readonly command?: readonly string[];
  readonly signal?: AbortSignal;
}

/**
 * The printed lines, like a stream of the daemon. Leaving the loop ends the process. UNAVAILABLE: it could not be
 * started, or it broke off.
 */
export async function* checkOffline(
  words: readonly string[],
  { env, command = [process.execPath, process.argv[1] ?? ""], signal }: OfflineOptions,
): AsyncGenerator<WireStreamLine, void, void> {
  const [file = "", ...first] = command;
  const child = spawn(file, [...first, "daemon", "--internal-fsck", ...words], {
    env: env as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const failed = Promise.withResolvers<string>();
  let said = "";
  child.once("error", ({ message }) => failed.resolve(message));
  child.once("close", () => failed.resolve(said.trim().split("\n").at(-1) ?? ""));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const end = (): void => void child.kill("SIGKILL");
  signal?.addEventListener("abort", end, { once: true });
  try {
    for await (const line of createInterface({ input: child.stdout }))
      yield JSON.parse(line) as WireStreamLine;
    if (signal?.aborted) throw new Fault({ code: "CANCELLED", message: "cancelled" });
    const why = await failed.promise;
    const message = `the check broke off${why === "" ? "" : `: ${why}`}`;
    throw new Fault({ code: "UNAVAILABLE", message });
  } finally {
    signal?.removeEventListener("abort", end);
    end();
  }
}
