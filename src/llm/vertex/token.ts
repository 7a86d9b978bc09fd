/**
 * Access tokens of Google Cloud from the user's credentials file: of a service account, by a signed assertion
 * (https://developers.google.com/identity/protocols/oauth2/service-account), or of the user, by a refresh token. A token is
 * kept in memory until shortly before it expires.
 */
import { createPrivateKey, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LlmError } from "../../abi/llm-error.ts";
import { notConfigured } from "../http/failure.ts";
import { type Json, numberOf, objectOf, stringOf } from "../json.ts";
import { VERSION } from "../version.ts";

type Env = Readonly<Record<string, string>>;

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const TOKEN_URI = "https://oauth2.googleapis.com/token";
/** How long before its end a token is no longer used. */
const MARGIN_MS = 60_000;
/** Where credentials come from. */
export const LOGIN_HINT =
  "Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file.";

interface Token {
  readonly text: string;
  readonly untilMs: number;
}

export class GoogleToken {
  readonly #env: Env;
  readonly #device: string;
  readonly #now: () => number;
  #token: Token | undefined;
  /** Whether the token was got for more than one request. */
  #isKept = false;

  /** `now`: the wall clock, in which tokens expire. */
  constructor(env: Env, device: string, now: () => number = Date.now) {
    this.#env = env;
    this.#device = device;
    this.#now = now;
  }

  /** Rejects with LlmError: there are no credentials, or they are refused. */
  async get(signal: AbortSignal): Promise<string> {
    if (this.#token !== undefined && this.#now() < this.#token.untilMs) {
      this.#isKept = true;
      return this.#token.text;
    }
    this.#isKept = false;
    const credentials = await this.#credentials();
    const uri = stringOf(credentials.token_uri) || TOKEN_URI;
    const answer = await fetch(uri, {
      method: "POST",
      body: new URLSearchParams(this.#question(credentials, uri)),
      headers: { "user-agent": `crux/${VERSION}` },
      redirect: "error",
      signal,
    });
    const told = objectOf(await answer.json().catch(() => undefined));
    const text = stringOf(told.access_token);
    if (!answer.ok || text === "") throw this.#refused(answer.status, told);
    this.#token = { text, untilMs: this.#now() + numberOf(told.expires_in) * 1000 - MARGIN_MS };
    return text;
  }

  /** It was refused, so it is not used again. true: it was one of before, so that a new one may be taken. */
  forget(): boolean {
    this.#token = undefined;
    return this.#isKept;
  }

  #question(credentials: Json, audience: string): Record<string, string> {
    if (credentials.type !== "service_account")
      return {
        grant_type: "refresh_token",
        client_id: stringOf(credentials.client_id),
        client_secret: stringOf(credentials.client_secret),
        refresh_token: stringOf(credentials.refresh_token),
      };
    const iat = Math.floor(this.#now() / 1000);
    const claims = { iss: credentials.client_email, scope: SCOPE, aud: audience, iat, exp: iat + 3600 };
    const signed = `${encoded({ alg: "RS256", typ: "JWT" })}.${encoded(claims)}`;
    const key = createPrivateKey(stringOf(credentials.private_key));
    const assertion = `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
    return { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion };
  }

  async #credentials(): Promise<Json> {
    const { GOOGLE_APPLICATION_CREDENTIALS: named = "", HOME = "" } = this.#env;
    const file = named || join(HOME, ".config/gcloud/application_default_credentials.json");
    try {
      const credentials = objectOf(JSON.parse(await readFile(file, "utf8")));
      const { type } = credentials;
      if (type === "service_account" || type === "authorized_user") return credentials;
      throw new Error(`credentials of the type ${JSON.stringify(type)} are not supported`);
    } catch (error) {
      const why = error instanceof SyntaxError ? "it is not JSON" : (error as Error).message;
      throw notConfigured(this.#device, `no Google credentials in ${file}: ${why}`, LOGIN_HINT);
    }
  }

  #refused(status: number, { error, error_description }: Json): LlmError {
    const why = stringOf(error_description) || stringOf(error) || "no explanation";
    const message = `Google refused the credentials (${status}: ${why})`;
    return new LlmError({
      kind: status >= 500 ? "server" : "auth",
      device: this.#device,
      status,
      message,
      hint: LOGIN_HINT,
    });
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
