/** Programs that are only asked which version they are. */
import { wordList as words } from "../tables.ts";
import type { Word } from "../word.ts";

/** What asks them for their version, and for nothing else. */
const VERSION_FLAGS: Readonly<Record<string, string>> = {
  node: "--version -v -h --help",
  npm: "--version -v",
  bun: "--version -v",
  deno: "--version -V",
  tsc: "--version -v",
  python: "--version -V",
  python3: "--version -V",
  pip: "--version -V",
  pip3: "--version -V",
  ruby: "--version -v",
  perl: "--version -v",
  php: "--version -v",
  go: "version",
  cargo: "--version",
  rustc: "--version",
  java: "-version --version",
  javac: "-version --version",
  git: "--version version --help help",
  docker: "--version -v",
};
/** Not those that look for a toolchain, a plugin or a version of their own in the project: yarn, pnpm, mvn, pytest … */
const VERSIONED = new Set(
  words(
    `gcc g++ cc clang cmake make ninja bash zsh sh jq rg fd fzf tar gzip kubectl helm terraform gh glab aws gcloud az sqlite3 psql
     mysql redis-cli ffmpeg pandoc uv ruff black eslint prettier biome npx gem dotnet julia R lua ghc sed awk gawk grep find ls cat
     sort podman systemctl openssl ssh`,
  ),
);

/** A question for its version, which starts nothing of the project. `cargo` and its kin take a toolchain as their own. */
export function isVersionQuery(name: string, args: readonly Word[]): boolean {
  const [flag, other] = args;
  if (flag?.text == null || other !== undefined) return false;
  const own = Object.hasOwn(VERSION_FLAGS, name) ? words(VERSION_FLAGS[name] ?? "") : [];
  return own.includes(flag.text) || (VERSIONED.has(name) && flag.text === "--version");
}
