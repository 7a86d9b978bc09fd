/**
 * Where Crux keeps its files, from the environment alone (XDG Base Directory rules: a variable that is empty or not
 * absolute counts as not set). Pure: no file is read or made here.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** The directory of the socket and `crux.pid`; mode 0700. */
export function runtimeDir(env: Environment, uid: number): string {
  const base = absolute(env.XDG_RUNTIME_DIR);
  return base === undefined ? `/tmp/crux-${uid}` : `${base}/crux`;
}

/** The socket of the user's daemon. `CRUX_SOCKET` overrides it for client and daemon. */
export function socketPath(env: Environment, uid: number): string {
  return givenSocket(env) ?? `${runtimeDir(env, uid)}/crux.sock`;
}

/** The socket that the user named. */
export function givenSocket(env: Environment): string | undefined {
  return nonEmpty(env.CRUX_SOCKET);
}

/** The socket that a process started by Crux must use; undefined outside of such a process. */
export function ipcSocketPath(env: Environment): string | undefined {
  return nonEmpty(env.CRUX_IPC_SOCKET) ?? nonEmpty(env.KAIRO_IPC_SOCKET);
}

/** The daemon's OS pid, for diagnosis, beside its socket. */
export function pidFile(socket: string): string {
  return `${parent(socket)}/crux.pid`;
}

/** The file that proves the user's identity to the daemon: new at each start, mode 0600, beside the socket. */
export function cookieFile(socket: string): string {
  return `${parent(socket)}/crux.cookie`;
}

/** The file that names the owner of a runtime directory: the daemon's pid and its state directory. */
export function ownerFile(runtime: string): string {
  return `${runtime}/crux.owner`;
}

/** The directory of the journal, outputs and `daemon.log`. */
export function stateDir(env: Environment, home: string): string {
  return `${absolute(env.XDG_STATE_HOME) ?? `${home}/.local/state`}/crux`;
}

/** The directory of the journal, and of the daemon's lock with `owner.json`. */
export function journalDir(state: string): string {
  return `${state}/journal`;
}

/** The file that counts consecutive daemons that ended soon after their start; no file means none. */
export function bootCountFile(state: string): string {
  return `${state}/boot-count`;
}

/** The directory of `settings.json`, `agents/`, `skills/` and `memory/`. */
export function configDir(env: Environment, home: string): string {
  return `${absolute(env.XDG_CONFIG_HOME) ?? `${home}/.config`}/crux`;
}

/** The directory of compiled code, which every command and every daemon of the user runs; mode 0700. */
export function codeCacheDir(env: Environment, home: string): string {
  return `${absolute(env.XDG_CACHE_HOME) ?? `${home}/.cache`}/crux`;
}

/** The directory that contains `path`; `.` for a bare name. */
export function parent(path: string): string {
  const slash = path.lastIndexOf("/");
  if (slash < 0) return ".";
  return slash === 0 ? "/" : path.slice(0, slash);
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function absolute(value: string | undefined): string | undefined {
  return value?.startsWith("/") ? value.replace(/(?<=.)\/+$/, "") : undefined;
}
