/**
 * Credentials for Amazon Web Services: those of the environment, else of a profile in the user's files
 * (https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html). The files are read for each request, so that
 * a login in another terminal counts at once.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { notConfigured } from "../http/failure.ts";
import type { AwsKeys } from "./sign.ts";

type Env = Readonly<Record<string, string>>;
type Section = ReadonlyMap<string, string>;

/** Where keys come from. */
export const KEYS_HINT =
  "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_BEARER_TOKEN_BEDROCK, or AWS_PROFILE to a profile with keys; of one that " +
  "logs in elsewhere, run `aws configure export-credentials --format env`.";

/** Rejects with LlmError if there are none. */
export async function awsKeys(env: Env, device: string): Promise<AwsKeys> {
  const { AWS_ACCESS_KEY_ID: id = "", AWS_SECRET_ACCESS_KEY: secret = "", AWS_SESSION_TOKEN = "" } = env;
  if (id !== "" && secret !== "") return { id, secret, session: AWS_SESSION_TOKEN };
  const name = env.AWS_PROFILE || "default";
  const { credentials, config } = filesOf(env);
  const found = [await sectionIn(credentials, [name]), await sectionIn(config, [`profile ${name}`, name])];
  for (const section of found) {
    const keys = keysIn(section);
    if (keys !== undefined) return keys;
  }
  const isThere = found.some((section) => section.size > 0);
  const why = isThere ? "has no keys" : `is in neither ${credentials} nor ${config}`;
  throw notConfigured(device, `the AWS profile ${name} ${why}`, KEYS_HINT);
}

function filesOf(env: Env): { readonly credentials: string; readonly config: string } {
  const folder = join(env.HOME ?? "", ".aws");
  return {
    credentials: env.AWS_SHARED_CREDENTIALS_FILE || join(folder, "credentials"),
    config: env.AWS_CONFIG_FILE || join(folder, "config"),
  };
}

function keysIn(section: Section): AwsKeys | undefined {
  const [id, secret] = [section.get("aws_access_key_id") ?? "", section.get("aws_secret_access_key") ?? ""];
  if (id === "" || secret === "") return undefined;
  return { id, secret, session: section.get("aws_session_token") ?? "" };
}

/** The first of the named sections; empty: there is none, or no file. */
async function sectionIn(file: string, names: readonly string[]): Promise<Section> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as { code?: unknown }).code === "ENOENT") return "";
    throw error;
  });
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, title] = /^\s*\[\s*(.*?)\s*\]/.exec(line) ?? [];
    if (title !== undefined) {
      section = sections.get(title) ?? new Map();
      sections.set(title, section);
    }
    // an indented line belongs to a nested setting
    const [, name, value] = /^([\w.-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) section.set(name.toLowerCase(), value);
  }
  return names.map((name) => sections.get(name)).find((each) => each !== undefined) ?? new Map();
}
