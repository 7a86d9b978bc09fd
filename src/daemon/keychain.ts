/**
 * The keychain of the user's desktop, through the program that the system has for it: `secret-tool` (libsecret) on Linux,
 * `security` on macOS. A secret passes on the streams of these programs alone; no argument and no environment has it.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../lib/paths.ts";

const SERVICE = "crux";
/** The keychain may be locked, and ask the user; whoever waits for the daemon to start does not wait for that, in ms. */
const READ_MS = 3_000;
const CHANGE_MS = 30_000;
const MAX_BYTES = 64 * 1024;
const SYSTEM = "/usr/local/bin:/usr/bin:/bin";
/** What these programs need of the environment to find the session of the user. */
const NEEDED: ReadonlySet<string> = new Set([
  "PATH",
  "HOME",
  "USER",
  "LANG",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "DISPLAY",
]);

interface Order {
  readonly program: string;
  readonly args: readonly string[];
  readonly input?: string;
}

interface Programs {
  read(account: string): Order;
  store(account: string, secret: string): Order;
  remove(account: string): Order;
}

const LIBSECRET: Programs = {
  read: (account) => tool(["lookup", "service", SERVICE, "account", account]),
  store: (account, secret) => ({
    ...tool(["store", "--label", `Crux: ${account}`, "service", SERVICE, "account", account]),
    input: secret,
  }),
  remove: (account) => tool(["clear", "service", SERVICE, "account", account]),
};

const MACOS: Programs = {
  read: (account) => security(["find-generic-password", "-s", SERVICE, "-a", account, "-w"]),
  // commands on stdin; in hexadecimal, so that nothing in a secret is read as one
  store: (account, secret) => ({
    ...security(["-i"]),
    input: `add-generic-password -U -s ${SERVICE} -a ${account} -X ${Buffer.from(secret).toString("hex")}\n`,
  }),
  remove: (account) => security(["delete-generic-password", "-s", SERVICE, "-a", account]),
};

function tool(args: readonly string[]): Order {
  return { program: "secret-tool", args };
}

function security(args: readonly string[]): Order {
  return { program: "security", args };
}

export class Keychain {
  readonly #programs: Programs;
  readonly #env: Record<string, string>;

  constructor(programs: Programs, env: Environment) {
    this.#programs = programs;
    this.#env = Object.fromEntries(
      Object.entries({ ...env, PATH: ownFolders(env.PATH) }).flatMap(([name, value]) =>
        value !== undefined && NEEDED.has(name) ? [[name, value]] : [],
      ),
    );
  }

  /** undefined: it has none, or did not answer in time. Waits, since nothing may begin before secrets are known. */
  read(account: string): string | undefined {
    const { program, args } = this.#programs.read(account);
    const { status, stdout } = spawnSync(program, args, {
      env: this.#env,
      timeout: READ_MS,
      killSignal: "SIGKILL",
      maxBuffer: MAX_BYTES,
      stdio: ["ignore", "pipe", "ignore"],
      encoding: "utf8",
    });
    return status === 0 ? secretIn(stdout) : undefined;
  }

  /** True: it has the secret, and gives it back. */
  async store(account: string, secret: string): Promise<boolean> {
    if ((await this.#run(this.#programs.store(account, secret))) === undefined) return false;
    const found = await this.#run(this.#programs.read(account));
    return found !== undefined && secretIn(found) === secret;
  }

  async remove(account: string): Promise<void> {
    await this.#run(this.#programs.remove(account));
  }

  /** What it printed; undefined: it failed. */
  #run({ program, args, input = "" }: Order): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const child = spawn(program, args, {
      env: this.#env,
      timeout: CHANGE_MS,
      killSignal: "SIGKILL",
      stdio: ["pipe", "pipe", "ignore"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(0, MAX_BYTES);
    });
    child.on("error", () => resolve(undefined));
    child.on("close", (code) => resolve(code === 0 ? output : undefined));
    // one that reads nothing is no failure of ours
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    return promise;
  }
}

/** undefined: this system has none, or nobody is at its desktop. */
export function findKeychain(env: Environment, platform: NodeJS.Platform): Keychain | undefined {
  if (platform === "darwin") return new Keychain(MACOS, env);
  const { DBUS_SESSION_BUS_ADDRESS: bus = "", XDG_RUNTIME_DIR: runtime = "" } = env;
  const hasBus = bus !== "" || (runtime !== "" && existsSync(join(runtime, "bus")));
  return platform === "linux" && hasBus ? new Keychain(LIBSECRET, env) : undefined;
}

/** Without the folders that `npm start` puts before the others: an agent may write there. */
function ownFolders(path = SYSTEM): string {
  const folders = path
    .split(":")
    .filter((dir) => dir.startsWith("/") && !`${dir}/`.includes("/node_modules/"));
  return folders.join(":") || SYSTEM;
}

function secretIn(output: string): string | undefined {
  const secret = output.replace(/\n$/, "");
  return secret === "" ? undefined : secret;
}
