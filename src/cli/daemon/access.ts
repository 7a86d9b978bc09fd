import type { Environment } from "../../lib/paths.ts";
import type { Daemon, DaemonOptions } from "../../wire/client/daemon.ts";
import type { DaemonAccess, DaemonClient } from "./client.ts";

/**
 * The daemon of this user. Its client code is loaded at first use: `crux help` needs none of it. `onHint` is called at
 * most once per shell session when the daemon has another version, and once per command when it runs in safe mode.
 */
export function lazyDaemon(version: string, env: Environment, onHint: (hint: string) => void): DaemonAccess {
  const load = () => import("../../wire/client/daemon.ts");
  const options = (signal: AbortSignal | undefined): DaemonOptions =>
    signal === undefined ? { version, env } : { version, env, signal };
  let isWarned = false;
  const greeted = <D extends { readonly hint?: string; readonly warning?: string }>(daemon: D): D => {
    if (daemon.hint !== undefined) onHint(daemon.hint);
    if (daemon.warning !== undefined && !isWarned) onHint(daemon.warning);
    isWarned ||= daemon.warning !== undefined;
    return daemon;
  };
  const ensured = async (signal?: AbortSignal) => greeted(await (await load()).ensureDaemon(options(signal)));
  /** A daemon of another version may not know the keys of requests. */
  const repeating = async (daemon: Daemon): Promise<DaemonClient> => {
    if (daemon.version !== version) return daemon.connection;
    const { RepeatingConnection } = await import("../../wire/client/repeating.ts");
    return new RepeatingConnection(daemon.connection, async (signal) => (await ensured(signal)).connection);
  };
  return {
    ensure: async (signal) => repeating(await ensured(signal)),
    kernel: async (features = []) => {
      const { connection, socketPath } = await ensured();
      connection.close();
      const { connectKernel } = await import("../../wire/client/kernel.ts");
      return await connectKernel(socketPath, { token: env.CRUX_IPC_TOKEN, features });
    },
    find: async (signal) => {
      const found = await (await load()).findDaemon(options(signal));
      return found === undefined ? undefined : repeating(greeted(found));
    },
    offline: async function* (words, signal) {
      const { checkOffline } = await import("../../wire/client/offline.ts");
      yield* checkOffline(words, signal === undefined ? { env } : { env, signal });
    },
    gone: async (signal) => (await load()).daemonGone(options(signal)),
    force: async (signal) => (await load()).forceDaemon(options(signal)),
    forgetDeaths: async () => (await load()).forgetDeaths(options(undefined)),
  };
}
