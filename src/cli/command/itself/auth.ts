/**
 * `crux auth`: the keys of model providers. A key is typed or comes on stdin; it is tried before it is stored, and only
 * its last characters are shown again.
 */
import {
  CREDENTIAL_DRIVERS,
  CREDENTIAL_VARIABLES,
  type CredentialDriver,
  namesDriver,
} from "../../../abi/credentials.ts";
import { textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { questionTerminal } from "../../dialog/questions.ts";
import { clientEnvironment } from "../../run/environment.ts";
import {
  askLogin,
  checkedKey,
  driverOf,
  type Given,
  type Login,
  storeLogin,
  tryLogin,
} from "../../run/login.ts";
import { tryModel } from "../../run/try-model.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { readStdin } from "../../terminal/stdin.ts";
import { runVerb, type Verb } from "./verbs.ts";

export const auth: Command = {
  flags: {
    "key-stdin": { type: "boolean" },
    "base-url": { type: "string" },
    "no-check": { type: "boolean" },
    check: { type: "boolean" },
  },
  run: (call) => runVerb(call, VERBS, "status", USAGE),
};

const USAGE =
  "crux auth [status|list [--check] | login [<provider>] [--key-stdin] [--base-url <url>] | logout <provider>]";
const VERBS: Readonly<Record<string, Verb>> = { login, logout, status, list: status };
const MAX_KEY_BYTES = 4096;

async function login(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console } = call;
  if (words.length > 1) throw invalid(`unknown argument: ${words[1]}`, USAGE);
  const given = {
    driver: words[0] === undefined ? undefined : driverOf(words[0]),
    url: textFlag(args, "base-url"),
  };
  const form = args.flags.has("key-stdin") ? await fromStdin(call, given) : await typed(call, given);
  if (typeof form === "string") return 130;
  const check = args.flags.has("no-check") ? "not tried" : await tryLogin(call, form);
  const { driver } = form;
  const { place, file, ends_with } = await storeLogin(call, client, form);
  const where = place === "keychain" ? console.catalogue.login.keychain : safeLine(file);
  if (console.mode === "json") await console.data({ driver, ends_with, file, check, place });
  else if (console.mode !== "quiet")
    await console.line(`[auth] ${driver}: key …${safeLine(ends_with)} stored in ${where} (${check})`);
  return 0;
}

async function fromStdin({ host }: Call, { driver, url }: Given): Promise<Login> {
  if (driver === undefined) throw invalid("which provider? its name is missing", USAGE);
  const read = await readStdin(host.stdin, {
    maxBytes: MAX_KEY_BYTES,
    what: "the key on stdin",
    onSilence: () => false,
  });
  return { driver, key: checkedKey(read.toString("utf8").trim()), baseUrl: url };
}

function typed(call: Call, given: Given): ReturnType<typeof askLogin> {
  const terminal = questionTerminal(call);
  if (terminal !== undefined) return askLogin(call, terminal, given);
  throw invalid(
    "there is no terminal to type the key at",
    `crux auth login ${given.driver ?? "<provider>"} --key-stdin`,
  );
}

async function logout({ console }: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) throw invalid("one provider is needed", USAGE);
  const driver = driverOf(name);
  const { removed } = await client.request("credential.remove", { driver });
  if (console.mode === "json") await console.data({ driver, removed });
  else if (console.mode !== "quiet")
    await console.line(`[auth] ${driver}: ${removed ? "the stored key is removed" : "no key was stored"}`);
  return 0;
}

async function status(call: Call, client: DaemonClient, words: readonly string[]): Promise<number> {
  const { args, console, host } = call;
  if (words.length > 0) throw invalid(`unknown argument: ${words[0]}`, USAGE);
  const { credentials, file } = await client.request("credential.list", {});
  const rows: Row[] = [];
  for (const driver of CREDENTIAL_DRIVERS) {
    const isOwn = namesDriver(host.env, driver);
    const stored = credentials.find((each) => each.driver === driver);
    if (!isOwn && stored === undefined) continue;
    const row = isOwn
      ? { driver, from: "environment" as const, ...(stored && { unused_ends_with: stored.ends_with }) }
      : { driver, ...stored, from: "stored" as const };
    rows.push(args.flags.has("check") ? { ...row, check: await checked(call, driver) } : row);
  }
  if (console.mode === "json") await console.data({ credentials: rows, file });
  else if (rows.length === 0) await console.line("No provider has a key: crux auth login stores one.");
  else for (const row of rows) await console.line(statusLine(row));
  return rows.some(({ check }) => check !== undefined && check.kind !== "answered") ? 1 : 0;
}

async function checked({ host }: Call, driver: CredentialDriver) {
  return tryModel(host, { env: clientEnvironment(host.env), model: driver });
}

interface Row {
  readonly driver: CredentialDriver;
  readonly from: "environment" | "stored";
  readonly ends_with?: string;
  /** Of a stored key that the one of the environment stands before. */
  readonly unused_ends_with?: string;
  readonly base_url?: string | undefined;
  readonly check?: Awaited<ReturnType<typeof checked>>;
}

function statusLine({
  driver,
  from,
  ends_with = "",
  unused_ends_with: unused,
  base_url,
  check,
}: Row): string {
  const key =
    from === "stored"
      ? `key …${safeLine(ends_with)}, stored`
      : `key from ${CREDENTIAL_VARIABLES[driver].key}${unused === undefined ? "" : ` (key …${safeLine(unused)}, stored, is not used here)`}`;
  const server = base_url === undefined ? "" : `, ${safeLine(base_url)}`;
  if (check === undefined) return `${driver}: ${key}${server}`;
  const works =
    check.kind === "answered"
      ? "a test call was answered"
      : `a test call failed: ${check.kind === "failed" ? safeLine(check.why) : "no model was found"}`;
  return `${driver}: ${key}${server}; ${works}`;
}
