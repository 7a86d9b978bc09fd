/** An MCP server in words for screens and for the journal: its command or address, without credentials. */

const MAX_CHARS = 200;
const HIDDEN = "…";
/** A flag whose value is a secret; with `=`, the value is in the same word. */
const SECRET_FLAG = /^(--?[\w.-]*(?:key|token|secret|passw|auth|credential|bearer)[\w.-]*)(=.*)?$/i;
/** Values that are secrets whatever flag they follow. */
const SECRET_VALUE = /^(?:sk|pk|ghp|gho|ghs|glpat|xox[a-z]|github_pat|AKIA)[-_A-Za-z0-9]{12,}|^Bearer /;

/** How a server is reached, as far as it is shown. */
type Reached =
  | { readonly type: "http"; readonly url: string; readonly headers?: object; readonly sse?: true }
  | {
      readonly type: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env?: object;
    };

/** `stdio: npx server-memory`, `http: http://127.0.0.1:8080/mcp` */
export function serverLabel(config: Reached): string {
  if (config.type === "http")
    return cut(`${config.sse === true ? "sse" : "http"}: ${withoutSecrets(config.url)}`);
  return cut(`stdio: ${[config.command, ...maskedArgs(config.args)].join(" ")}`);
}

/** What the journal keeps of a server. */
export interface KeptConfig<C> {
  /** For screens, without secrets. */
  readonly label: string;
  /** null: it needs values that are not stored. */
  readonly config: C | null;
  /** The values that are not stored, in words; "": none. */
  readonly lacks: string;
}

/** Of a server with variables, headers or anything that looks like a secret only the label is kept. */
export function keptConfig<C extends Reached>(config: C): KeptConfig<C> {
  const lacks = secretsOf(config);
  return { label: serverLabel(config), config: lacks === "" ? config : null, lacks };
}

function secretsOf(config: Reached): string {
  if (config.type === "http") {
    const url = URL.parse(config.url);
    if (url === null || url.username + url.password + url.search + url.hash !== "")
      return "all of its address";
    return named("header", Object.keys(config.headers ?? {}));
  }
  const words = [config.command, ...config.args];
  if (maskedCommand(words).some((word, n) => word !== words[n])) return "all words of its command";
  return named("variable", Object.keys(config.env ?? {}));
}

function named(noun: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  return `its ${noun}${names.length === 1 ? "" : "s"} ${names.slice(0, 8).join(", ")}`;
}

/** A command line as it is shown and stored: without values that look like secrets, or that follow a flag for one. */
export function maskedCommand([program = "", ...args]: readonly string[]): readonly string[] {
  return [program, ...maskedArgs(args)];
}

function maskedArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, i) => {
    const flag = SECRET_FLAG.exec(arg);
    if (flag?.[2] !== undefined) return `${flag[1]}=${HIDDEN}`;
    const before = SECRET_FLAG.exec(args[i - 1] ?? "");
    const isValue = before !== null && before[2] === undefined && !arg.startsWith("-");
    if (isValue || SECRET_VALUE.test(arg)) return HIDDEN;
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(arg) ? withoutSecrets(arg) : arg;
  });
}

/** The URL without user, password, query and fragment. */
function withoutSecrets(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1").replace(/[?#].*$/s, "");
}

function cut(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ");
  return line.length <= MAX_CHARS ? line : `${line.slice(0, MAX_CHARS - 1)}${HIDDEN}`;
}
