/**
 * Paths that hold authority over agents, that start programs, or that are secrets. Writing the first two kinds and
 * reading the third asks the user in every mode, whether or not the paths exist. Only paths that a call names are
 * checked: a search over a directory that may hold secrets does not ask, since every project has an `.env`; the search
 * itself leaves secret files out.
 */
import { posix } from "node:path";
import type { RealPath } from "../../kernel/ports/host.ts";
import { isWithin } from "../../lib/path.ts";
import { type Glob, matchesGlob, parseGlob } from "./glob.ts";
import { type LooseGlob, looseGlob, meet, tokensOf } from "./glob-meet.ts";
import { foldName, isInside, normalPath, segmentsOf } from "./paths.ts";

export type PathClass = "authority" | "execution" | "secret";

interface Row {
  readonly kind: PathClass;
  /**
   * `x` at any depth, `~/x` in the home directory, `/x` on the host; `x/` includes everything below. `?` stands for a
   * space.
   */
  readonly paths: string;
  /** Names that are not protected: just below a directory, or of the file itself. */
  readonly except?: string;
}

const PROTECTED_PATHS: readonly Row[] = [
  { kind: "authority", paths: ".crux/", except: "worktrees" },
  { kind: "authority", paths: ".agents/ .mcp.json crux/settings*.json" },
  { kind: "authority", paths: "~/.config/crux/", except: "memory" },
  { kind: "authority", paths: ".claude/", except: "worktrees" },
  { kind: "execution", paths: ".git/", except: "index objects refs logs HEAD COMMIT_EDITMSG" },
  {
    kind: "execution",
    paths: ".gitmodules .husky/ .envrc .vscode/ .idea/ .devcontainer/ .npmrc .yarnrc*",
  },
  {
    kind: "execution",
    paths: `~/.profile ~/.login ~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.inputrc
      ~/.xprofile ~/.xinitrc ~/.xsession ~/.xsessionrc ~/.pam_environment ~/.config/environment.d/ ~/.tmux.conf
      ~/.zshrc ~/.zshenv ~/.zprofile ~/.zlogin ~/.zlogout ~/.kshrc ~/.cshrc ~/.tcshrc ~/.config/fish/ ~/.config/zsh/`,
  },
  {
    kind: "execution",
    paths: ".exrc .nvimrc .nvim.lua ~/.vimrc ~/.gvimrc ~/.vim/ ~/.config/nvim/ ~/.gitconfig ~/.config/git/",
  },
  {
    kind: "execution",
    paths: `~/.ssh/ ~/.gnupg/ ~/.config/systemd/ ~/.config/autostart/ ~/.local/share/systemd/
      ~/Library/LaunchAgents/ /Library/LaunchAgents/ /Library/LaunchDaemons/ /var/spool/cron/`,
  },
  {
    kind: "execution",
    paths: "~/.local/bin/ ~/bin/ ~/.cargo/bin/ ~/go/bin/ /opt/homebrew/bin/ /bin/ /sbin/ /lib/ /lib64/",
  },
  { kind: "execution", paths: "/etc/ /usr/ /boot/" },
  {
    kind: "secret",
    paths: `~/.ssh/id_* ~/.aws/ ~/.azure/ ~/.config/gcloud/ ~/.config/gh/ ~/.netrc ~/.kube/config
      ~/.docker/config.json`,
  },
  { kind: "secret", paths: ".env .env.*", except: "*.example *.sample *.template" },
  { kind: "secret", paths: "*.pem *.key *.p12" },
  { kind: "secret", paths: "~/Library/Keychains/ /Library/Keychains/ ~/.local/share/keyrings/" },
  {
    kind: "secret",
    paths: `~/.mozilla/ ~/.config/google-chrome/ ~/.config/chromium/ ~/.config/microsoft-edge/ ~/.config/BraveSoftware/
      ~/snap/firefox/ ~/Library/Application?Support/Firefox/ ~/Library/Application?Support/Google/Chrome/
      ~/Library/Safari/`,
  },
  {
    kind: "secret",
    paths: "/etc/shadow /proc/*/environ /proc/*/mem /proc/*/task/*/environ /proc/*/task/*/mem",
  },
];

/** Most names are plain strings, since each is compared with every path. */
type Name = string | Glob;

export interface Protection {
  readonly kind: PathClass;
  /** Absolute directory in which `segments` begin; null: anywhere. */
  readonly base: string | null;
  /** `base` with its spelling on the host, before case folding. */
  readonly place: string | null;
  readonly segments: readonly Name[];
  readonly isDirectory: boolean;
  readonly except: readonly Name[];
}

/** Changes to the table from the settings. */
interface ProtectionSettings {
  /** Additional rows, written like the paths of rules: a write to one, or to anything below, asks the user. */
  readonly added?: readonly string[];
  /** Rows to remove, spelled exactly as in the table except for a trailing slash. */
  readonly removed?: readonly string[];
  /** The directory where `/x` and `a/b` begin; absent: they match at any depth. */
  readonly projectRoot?: string | undefined;
}

/** A protected place that is the same on every host. */
interface WrittenRow extends Omit<Protection, "base" | "place"> {
  readonly path: { readonly root: "~" | "/" | null; readonly names: readonly string[] };
}

const withoutSlash = (path: string): string => path.replace(/(?<=.)\/+$/, "");
const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

/** The table, parsed once: a policy is made for every change of the settings, and thousands in the tests. */
const SHIPPED = PROTECTED_PATHS.flatMap(({ kind, paths, except = "" }) =>
  words(paths).map((path) => ({
    name: withoutSlash(path),
    row: { kind, ...partsOf(path), isDirectory: path.endsWith("/"), except: words(except).map(nameOf) },
  })),
);

/** The table for one host: the real places of the home directory and of symbolic links are protected as well. */
export function protections(
  home: string,
  realPath: RealPath,
  settings: ProtectionSettings = {},
): readonly Protection[] {
  const removed = new Set((settings.removed ?? []).map(withoutSlash));
  const look = realPath.atOnce?.() ?? realPath;
  const at = ({ path, ...row }: WrittenRow): Protection[] =>
    placesOf(path, home, look).map((place) => ({ ...row, ...place }));
  const shipped = SHIPPED.flatMap(({ name, row }) => (removed.has(name) ? [] : at(row)));
  const added = (settings.added ?? [])
    .map((written) => addedPath(written, settings.projectRoot))
    .filter((path) => path !== null)
    .flatMap((path) => at({ kind: "authority", ...partsOf(path), isDirectory: true, except: [] }));
  return [...shipped, ...added, ...linkedPlaces(settings.projectRoot, look, removed)];
}

/**
 * What the protected names at the top of the project lead to, where they are links: who writes there writes them. A
 * folder brings `.vscode -> conf` as it brings the rest.
 */
function linkedPlaces(
  root: string | undefined,
  realPath: RealPath,
  removed: ReadonlySet<string>,
): readonly Protection[] {
  if (root === undefined) return [];
  const top = resolved(root, realPath);
  return SHIPPED.flatMap(({ name, row }): Protection[] => {
    const { path, segments, ...rest } = row;
    if (path.root !== null || rest.kind === "secret" || /[*?]/.test(name) || removed.has(name)) return [];
    // git writes to the rest of it: git-programs.ts says what of it is protected
    if (name === ".git") return [];
    const place = resolved(posix.join(top, name), realPath);
    if (place === posix.join(top, name)) return [];
    return [{ ...rest, segments: [], base: foldName(place), place }];
  });
}

/** Whether the shipped table has such a row to remove. */
export function isShippedProtection(path: string): boolean {
  const name = withoutSlash(path);
  return SHIPPED.some((each) => each.name === name);
}

/** `**` is supported only at the beginning and the end. null: not a path that can be protected. */
export function protectedNames(
  written: string,
): { anchor: "" | "~/" | "/" | "project"; names: string } | null {
  const path = written
    .trim()
    .replace(/(?<=.)\/\*\*\/?$/, "")
    .replace(/^\*\*\//, "");
  if (path === "" || /(?:^|\/)(?:\.\.?|\*\*)(?:\/|$)|[\p{Cc}[\]\\]/u.test(path)) return null;
  const [, lead = "", rest = ""] = /^(~\/|\/{0,2})(.*?)\/*$/u.exec(path) ?? [];
  if (rest === "") return null;
  if (lead === "~/") return { anchor: "~/", names: rest };
  if (lead === "//") return { anchor: "/", names: rest };
  const isDeep = lead === "" && (!rest.includes("/") || written.trim().startsWith("**/"));
  return { anchor: isDeep ? "" : "project", names: rest };
}

/** null: not a path that can be protected. */
function addedPath(written: string, projectRoot: string | undefined): string | null {
  const parsed = protectedNames(written);
  if (parsed === null) return null;
  const { anchor, names } = parsed;
  if (anchor !== "project") return `${anchor}${names}`;
  return projectRoot === undefined ? names : posix.join(projectRoot, names);
}

/** The directory before the first name with a wildcard, and the names from there on. */
function partsOf(path: string): Pick<WrittenRow, "path" | "segments"> {
  const names = path.split("/").filter((name) => name !== "" && name !== "~");
  const root = path.startsWith("~/") ? "~" : path.startsWith("/") ? "/" : null;
  if (root === null) return { path: { root, names: [] }, segments: names.map(nameOf) };
  const open = names.findIndex((name) => /[*?]/.test(name));
  const end = open < 0 ? names.length : open;
  return { path: { root, names: names.slice(0, end) }, segments: names.slice(end).map(nameOf) };
}

/** Of `~/x` and `/x`: as written and as resolved. */
function placesOf({ root, names }: WrittenRow["path"], home: string, realPath: RealPath) {
  if (root === null) return [{ base: null, place: null }];
  const plain = posix.join(root === "~" ? home : root, ...names);
  return [...new Set([plain, resolved(plain, realPath)])].map((place) => ({ base: foldName(place), place }));
}

/** The path itself where it cannot be resolved: such a place cannot be written through either. */
export function resolved(path: string, realPath: RealPath): string {
  try {
    return realPath(path);
  } catch {
    return path;
  }
}

function nameOf(text: string): Name {
  const folded = foldName(text);
  if (!/[*?]/.test(folded)) return folded;
  const glob = parseGlob(folded);
  if (glob === null) throw new Error(`not a name: ${text}`);
  return glob;
}

function matches(name: Name, segment: string): boolean {
  return typeof name === "string" ? name === segment : matchesGlob(name, segment);
}

export function findProtection(
  all: readonly Protection[],
  access: "read" | "write",
  path: string,
): Protection | undefined {
  const folded = normalPath(foldName(path));
  const segments = segmentsOf(folded);
  return all.find((each) => isOf(each, access) && covers(each, folded, segments));
}

/** How many characters of a name that is itself a pattern must be spelled: any `*` could match `x.pem`. */
const MIN_SPELLED = 2;

/**
 * The protected place that an absolute pattern of paths may match; `**` stands for any names. A name matched only by a
 * lone `*` does not count.
 */
export function findProtectionOfGlob(
  all: readonly Protection[],
  access: "read" | "write",
  glob: string,
): Protection | undefined {
  const segments = segmentsOf(glob).map((name) => ({ name, glob: name === "**" ? null : looseGlob(name) }));
  return all.find(
    (each) => isOf(each, access) && mayCover(each, segments, each.base === null ? [] : segmentsOf(each.base)),
  );
}

interface GlobSegment {
  readonly name: string;
  /** null: `**`, any number of names. */
  readonly glob: LooseGlob | null;
}

function mayCover(each: Protection, path: readonly GlobSegment[], base: readonly string[]): boolean {
  const fit = new Fit(each, [...base, ...each.segments], path);
  const starts = each.base === null ? path.map((_, at) => at) : [0];
  return starts.some((at) => fit.holds(at, 0));
}

/** Matches the names of a protected place against a path pattern. */
class Fit {
  readonly #of: Protection;
  readonly #names: readonly Name[];
  readonly #path: readonly GlobSegment[];

  constructor(of: Protection, names: readonly Name[], path: readonly GlobSegment[]) {
    this.#of = of;
    this.#names = names;
    this.#path = path;
  }

  /** Whether the names from `to` on match the path from `at` on. */
  holds(at: number, to: number): boolean {
    const { isDirectory, except, base, kind } = this.#of;
    const segment = this.#path[at];
    const name = this.#names[to];
    if (name === undefined) {
      if (segment !== undefined && !isDirectory)
        return this.#path.slice(at).every(({ glob }) => glob === null);
      const last = isDirectory ? segment : this.#path[at - 1];
      return last === undefined || !except.some((free) => matches(free, foldName(last.name)));
    }
    if (segment === undefined) return false;
    if (segment.glob === null)
      return this.holds(at + 1, to) || this.holds(at, to + 1) || this.holds(at + 1, to + 1);
    const spelled = meet(segment.glob, tokensOf(name));
    const isLast = to === this.#names.length - 1 && this.#path[at + 1] === undefined;
    // a search over a directory leaves such files out
    const isSearch = isLast && kind === "secret" && typeof name === "string" && (spelled ?? 0) === 0;
    const isEnough = typeof name === "string" || base !== null || (spelled ?? 0) >= MIN_SPELLED;
    const isNamed = spelled !== null && isEnough && !isSearch;
    return isNamed && this.holds(at + 1, to + 1);
  }
}

/**
 * Returns a test whether reading the real path asks the user in every mode. For searches, which leave such files out.
 */
export function secretPaths(home: string, realPath: RealPath): (path: string) => boolean {
  const all = protections(posix.resolve("/", home), realPath);
  return (path) => findProtection(all, "read", path) !== undefined;
}

/** A known protected place below the directory, which moves or disappears with it. */
export function findProtectionBelow(all: readonly Protection[], dir: string): Protection | undefined {
  const folded = foldName(dir);
  return all.find((each) => isOf(each, "write") && each.base !== null && isInside(folded, each.base));
}

function isOf({ kind }: Protection, access: "read" | "write"): boolean {
  return (kind === "secret") === (access === "read");
}

function covers(each: Protection, path: string, segments: readonly string[]): boolean {
  const { base } = each;
  if (base !== null) return isWithin(base, path) && coversAt(each, segments, segmentsOf(base).length);
  return segments.some((_, at) => coversAt(each, segments, at));
}

function coversAt(
  { segments, isDirectory, except }: Protection,
  path: readonly string[],
  at: number,
): boolean {
  const end = at + segments.length;
  if (path.length < end || (path.length > end && !isDirectory)) return false;
  if (!segments.every((each, i) => matches(each, path[at + i] as string))) return false;
  const name = isDirectory ? path[end] : path[end - 1];
  return name === undefined || !except.some((each) => matches(each, name));
}
