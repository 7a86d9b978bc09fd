/**
 * Where Crux keeps its files, from the environment alone (XDG Base Directory rules: a variable that is empty or not
 * absolute counts as not set). Pure: nothing is looked at or made here.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Holds the socket and `crux.pid`; 0700. */
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

/** The socket a process that Crux started must use; undefined outside of one. */
export function ipcSocketPath(env: Environment): string | undefined {
  return nonEmpty(env.CRUX_IPC_SOCKET) ?? nonEmpty(env.KAIRO_IPC_SOCKET);
}

/** The daemon's OS pid, for diagnosis, beside its socket. */
export function pidFile(socket: string): string {
  return `${parent(socket)}/crux.pid`;
}

/** What proves the user to the daemon; new at each start, 0600, beside the socket. */
export function cookieFile(socket: string): string {
  return `${parent(socket)}/crux.cookie`;
}

/** The daemon that has a runtime directory: its pid and its state directory. */
export function ownerFile(runtime: string): string {
  return `${runtime}/crux.owner`;
}

/** Journal, outputs, `daemon.log`. */
export function stateDir(env: Environment, home: string): string {
  return `${absolute(env.XDG_STATE_HOME) ?? `${home}/.local/state`}/crux`;
}

/** The journal, and beside it the daemon's lock with `owner.json`. */
export function journalDir(state: string): string {
  return `${state}/journal`;
}

/** How many daemons in a row died young; none: no file. */
export function bootCountFile(state: string): string {
  return `${state}/boot-count`;
}

/** `settings.json`, `agents/`, `skills/`, `memory/`. */
export function configDir(env: Environment, home: string): string {
  return `${absolute(env.XDG_CONFIG_HOME) ?? `${home}/.config`}/crux`;
}

/** The folder a path lies in, `.` for a bare name. */
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
