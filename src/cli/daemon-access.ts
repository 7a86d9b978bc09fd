import type { Environment } from "../lib/paths.ts";
import type { DaemonOptions } from "../wire/client/daemon.ts";
import type { DaemonAccess } from "./daemon-client.ts";

/**
 * The daemon of this user. What talks to it is loaded with the first use: `crux help` needs none of it.
 * `onHint` is told, at most once per shell session, that the daemon is of another version.
 */
export function lazyDaemon(version: string, env: Environment, onHint: (hint: string) => void): DaemonAccess {
  const load = () => import("../wire/client/daemon.ts");
  const options = (signal: AbortSignal | undefined): DaemonOptions =>
    signal === undefined ? { version, env } : { version, env, signal };
  const greeted = <D extends { readonly hint?: string }>(daemon: D): D => {
    if (daemon.hint !== undefined) onHint(daemon.hint);
    return daemon;
  };
  return {
    ensure: async (signal) => greeted(await (await load()).ensureDaemon(options(signal))).connection,
    find: async (signal) => {
      const found = await (await load()).findDaemon(options(signal));
      return found === undefined ? undefined : greeted(found).connection;
    },
    gone: async (signal) => (await load()).daemonGone(options(signal)),
    force: async (signal) => (await load()).forceDaemon(options(signal)),
  };
}
