/**
 * The environment of a command: the user's, without secrets and without variables that change what bash does before
 * the command.
 */
import { statSync } from "node:fs";
import type { Caller } from "../../abi/device.ts";
import { driverError } from "../driver-error.ts";
import { pathDirectories } from "../program.ts";

/** Keys and tokens, recognised by their usual names. */
const secret =
  /_(KEY|KEYS|TOKEN|TOKENS|SECRET|SECRETS|PASSWORD|PASSWD|CREDENTIALS)$|^(AWS|AZURE|ANTHROPIC|OPENAI|GEMINI|GOOGLE|MISTRAL|GROQ|OPENROUTER|DEEPSEEK|XAI|HF|GITHUB|GH|GITLAB|CLAUDE|DBUS)_|^(DATABASE_URL|DISPLAY|WAYLAND_DISPLAY)$|^SSH_/i;
/**
 * Variables that bash or the loader read before the first word of the command runs, or that common programs run as
 * code.
 */
const injecting =
  /^(IFS|ENV|SHELLOPTS|BASHOPTS|CDPATH|GLOBIGNORE|PS4|PROMPT_COMMAND|NODE_OPTIONS|RUBYOPT)$|^(BASH_ENV|BASH_FUNC_|BASH_XTRACEFD|LD_|DYLD_|GIT_|PYTHON|PERL5|CRUX_|KAIRO_)/;

/** Variables that start programs or redirect traffic: not inherited, though a request may set them. */
const leading = /^(EDITOR|VISUAL|PAGER)$|_PROXY$/i;

const quiet = { TERM: "dumb", NO_COLOR: "1", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" };

/**
 * `extra`: the variables of the request. INVALID: it sets PATH or an injecting name. `passes`: names that the user
 * has granted to the program although they look like secrets.
 */
export function commandEnvironment(
  caller: Pick<Caller, "pid" | "uuid" | "env">,
  extra: Readonly<Record<string, string>>,
  socketPath: string,
  passes: (name: string) => boolean = () => false,
): Record<string, string> {
  const inherited = Object.entries(caller.env).filter(
    ([name]) => (!secret.test(name) || passes(name)) && !injecting.test(name) && !leading.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    PATH: safePath(caller.env.PATH),
    ...quiet,
    ...checked(extra),
    ...replicaOf(caller.env),
    ...scratchOf(caller.env),
    CRUX_PID: String(caller.pid),
    CRUX_SESSION_ID: caller.uuid,
    CRUX_IPC_SOCKET: socketPath,
    KAIRO_IPC_SOCKET: socketPath,
  };
}

/** The replica number within its service, set by the kernel for the service and all its descendants. */
function replicaOf({ CRUX_REPLICA: n }: Readonly<Record<string, string>>): Record<string, string> {
  return n !== undefined && /^\d{1,4}$/.test(n) ? { CRUX_REPLICA: n } : {};
}

/** The path of its scratch folder, set by the kernel. */
function scratchOf({ CRUX_SCRATCH: path }: Readonly<Record<string, string>>): Record<string, string> {
  return path === undefined || path === "" ? {} : { CRUX_SCRATCH: path };
}

function checked(extra: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(extra)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes("\0"))
      throw driverError("Write", "INVALID", `shell: env: not a variable: ${JSON.stringify(name)}`);
    if (name === "PATH" || injecting.test(name))
      throw driverError("Write", "INVALID", `shell: env: ${name} may not be set here; set it in the command`);
  }
  return extra;
}

/** Drops relative directories, and those where any user may put a program. */
function safePath(path: string | undefined): string {
  return pathDirectories(path)
    .filter((directory) => !isWorldWritable(directory))
    .join(":");
}

function isWorldWritable(directory: string): boolean {
  try {
    return (statSync(directory).mode & 0o002) !== 0;
  } catch {
    return false;
  }
}
