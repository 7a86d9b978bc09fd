/** However a text spells a protected place, writing it (or reading a secret) is a question that no mode answers. */
import { beforeAll, expect, test } from "vitest";
import { allowed, bash, run, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";

beforeAll(async () => {
  await loadParser();
});

const permit = makePermit({
  rules: [allowed("bash"), allowed("edit"), allowed("view")],
  defaultMode: "default",
  additionalDirectories: [],
  home: "/home/u",
  kernelPaths: ["/home/u/.local/state/crux"],
  isTrusted: true,
  projectRoot: "/workspace",
  realPath: (path) => path.replace(/^\/workspace\/link(?=\/|$)/, "/workspace/.git"),
  exists: (path) => path === "/workspace/.git",
});

const MODES = ["default", "accept_edits", "bypass", "auto"] as const;

function isHard(text: string, mode: (typeof MODES)[number]): boolean {
  const effect = { ...bash(text), cwd: "/workspace" } as ReturnType<typeof bash>;
  const decision = run(
    permit,
    "bash",
    [effect],
    subject({ cwd: "/workspace", roots: ["/workspace"], free: [], mode }),
  );
  return decision.behavior === "deny" || (decision.behavior === "ask" && decision.isHard === true);
}

const D = "$";
/** Spellings of `.git/config` and its like: bash may make the path of each. */
const PLACES = [
  ".git/config",
  "./.git/config",
  ".git//config",
  "src/../.git/config",
  "/workspace/.git/config",
  ".GIT/config",
  ".g''it/config",
  ".gi[t]/config",
  ".gi[a-z]/config",
  ".gi[!a]/config",
  ".gi[[:alpha:]]/config",
  ".g?t/config",
  ".g*/config",
  ".g*/*",
  ".git/*",
  ".git/c*",
  ".git/?onfig",
  "./.g*/co*",
  ".*/config",
  ".[g]it/config",
  "/workspace/.g*/config",
  "/*/.git/config",
  "{.git,x}/config",
  "{x,.g*}/config",
  ".g{it,x}/config",
  ".git/{config,x}",
  ".git/hooks/*",
  ".g*/hooks/pre-commit",
  "link/config",
  "link/hooks/x",
  ".e[n]vrc",
  ".envr*",
  ".npmr?",
  ".npm*",
  ".y*",
  ".yarnrc*",
  ".yarnrc.y?l",
  ".yarnrc.cjs",
  ".[n]pmrc",
  ".crux/*",
  ".c*/settings.json",
  ".cr?x/settings.json",
  ".claude/s*",
  ".mcp.js*",
  ".m?p.json",
  ".husk?/pre-commit",
  ".vscode/*.json",
  ".gitm*",
  "~/.b*",
  "~/.bash*",
  "~/.ss?/authorized_keys",
  "~/.ssh/a*",
  "~/.gitconf*",
  "~/.pro*",
  `${D}HOME/.bashrc`,
  `${D}HOME/.bash*`,
  `${D}{HOME}/.ssh/x`,
  `"${D}HOME"/.z*`,
  `${D}PWD/.git/config`,
];

const WRITES: readonly ((place: string) => string)[] = [
  (place) => `echo x > ${place}`,
  (place) => `echo x >> ${place}`,
  (place) => `tee ${place} < a`,
  (place) => `cp a ${place}`,
  (place) => `rm ${place}`,
  (place) => `sed -i s/a/b/ ${place}`,
  (place) => `ls && { touch ${place}; }`,
  (place) => `bash -c 'tee ${place.replaceAll("'", "")}'`,
  (place) => `for f in ${place}; do echo x > "${D}f"; done`,
];

const WRITTEN = [
  ...PLACES.flatMap((place) => WRITES.map((write) => write(place))).filter(
    // the first of two is the source, the second is not protected
    (text) => !/^cp a (?:\{\.git,x\}|\.g\{it,x\})\/config$/.test(text),
  ),
  "d=.git; echo x > $d/config",
  "D=.git; echo x > $D/config",
  'd=.git; cp a "$d/hooks/pre-commit"',
  "d=.g*; cp a $d/config",
  "f=config; echo x > .git/$f",
  "for d in .git x; do echo x > $d/config; done",
  'for f in config hooks/x; do cp a ".git/$f"; done',
  'for f in *; do echo x > ".git/$f"; done',
  "cd .git && echo x > config",
  "cd .git; tee config < a",
  "cd .git/hooks && cp a pre-commit",
  "cd .g*; echo x > config",
  "cd .gi[t] && echo x > config",
  "pushd .git; echo x > config",
  "pushd .g?t && cp a config",
  "shopt -s extglob\necho x > .g@(it|x)/config",
  "shopt -s extglob\ntee .+(g|i|t)/config",
  "shopt -s globstar\necho x > **/.git/config",
  "eval 'echo x > .git/config'",
  "eval 'echo x > .g*/config'",
  "mv .g* x",
  "rm -rf .*",
  "rm -rf .g*",
  "ln -sf a .e*rc",
  "chmod 777 .git/h*",
  "truncate -s 0 ~/.bashr?",
];

const READ = [
  ...[
    ".env",
    ".e*",
    ".en?",
    ".e[n]v",
    "./.e*",
    ".*",
    ".env.*",
    ".env.l*",
    "{.env,x}",
    ".e{nv,x}",
    "src/.e*",
    "*/.env",
  ],
  ...[
    "*.pem",
    "*.pe[m]",
    "*.p*m",
    "a.p?m",
    "*.ke?",
    "src/*.key",
    "~/.ssh/id_*",
    "~/.ssh/id*",
    "~/.aw*/credentials",
    "~/.aws/*",
    "~/.netr?",
  ],
].flatMap((place) => [
  `cat ${place}`,
  `head -1 ${place}`,
  `frob ${place}`,
  `for f in ${place}; do cat "${D}f"; done`,
  `cat < ${place}`,
  `cp ${place} x`,
]);

test.each(MODES)(`each of ${WRITTEN.length} spellings is a hard question in mode %s`, (mode) => {
  expect(WRITTEN.filter((text) => !isHard(text, mode))).toEqual([]);
});

test.each(MODES)(`each of ${READ.length} ways to read a secret is a hard question in mode %s`, (mode) => {
  expect(READ.filter((text) => !isHard(text, mode))).toEqual([]);
});

test("patterns that come to nothing protected are no such question", () => {
  const free = [
    ...[
      "ls *",
      "cat *.ts",
      "cat *",
      "rm *.tmp",
      "cp src/* dst",
      "tee out.* < a",
      "rm -rf dist/*",
      "cat .gitignore",
    ],
    ...["ls .git/*", "cat .git/config", "rm .gitignor?", "cat .env.example", "cat *.example", "touch a/*/b"],
    ...["for f in *; do echo x > $f; done", "cat /etc/*", "wc -l src/**/*.ts", "sed -i s/a/b/ src/*.ts"],
  ];
  expect(free.filter((text) => isHard(text, "bypass"))).toEqual([]);
});
