/** Programs that write their own settings: a question that neither an allow rule nor a mode answers; asking them is none. */
import { beforeAll, expect, test } from "vitest";
import { allowed, bash, run, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";
import { staticWord } from "../shell/word.ts";
import { settingsWritten } from "./settings-writer.ts";

beforeAll(async () => {
  await loadParser();
});

const permit = makePermit({
  rules: [allowed("bash"), allowed("bash(git *)")],
  defaultMode: "default",
  additionalDirectories: [],
  home: "/home/u",
  kernelPaths: [],
  isTrusted: true,
  projectRoot: "/workspace",
  realPath: (path) => path,
  exists: (path) => path === "/workspace/.git",
});

function isHard(text: string, mode: "default" | "accept_edits" | "bypass" | "auto"): boolean {
  const effect = { ...bash(text), cwd: "/workspace" } as ReturnType<typeof bash>;
  const decision = run(
    permit,
    "bash",
    [effect],
    subject({ cwd: "/workspace", roots: ["/workspace"], free: [], mode }),
  );
  return decision.behavior === "ask" && decision.isHard === true;
}

const lines = (block: string): readonly string[] =>
  block
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const WRITES = lines(`
  git config a.b c
  git config core.hooksPath ./e
  git config --local core.fsmonitor ./e
  git config --global core.pager ./e
  git config --system a.b c
  git config --add a.b c
  git config --replace-all a.b c
  git config --unset a.b
  git config --edit
  git config -e
  git config set a.b c
  git config unset a.b
  git config edit
  git config --rename-section a b
  git config --remove-section a
  git config --type=bool a.b true
  git config a.b $x
  git config $x
  git config "$x" "$y"
  git -C . config a.b c
  git --no-pager config a.b c
  git -c x.y=z config a.b c
  git --git-dir=.git config a.b c
  git remote add x y
  git remote -v add x y
  git remote set-url origin ./e
  git remote rename a b
  git remote remove a
  git submodule add x y
  git submodule --quiet add x
  git submodule set-url a b
  git submodule init
  git lfs install
  git maintenance start
  git-lfs install
  husky install
  husky
  npx husky install
  npx -y husky init
  npx --yes husky add x
  bunx husky init
  npm exec husky init
  pnpm dlx husky init
  npm config set script-shell ./e
  npm config set registry http://h
  npm c set a b
  npm set a b
  npm config delete a
  npm config edit
  npm config fix
  npm config set --location=project a b
  npm login
  npm adduser
  pnpm config set a b
  yarn config set yarnPath ./e
  yarn set version 3
  yarn plugin import x
  pip config set global.index-url http://h
  pip3 config set a b
  pip config --user set a b
  pip config unset a
  poetry config a b
  cargo login
  rustup default stable
  rustup override set x
  go env -w GOFLAGS=-toolexec=./e
  go env -u GOFLAGS
  gh config set pager ./e
  gh auth login
  gh auth setup-git
  gh alias set x '!rm y'
  gh extension install a/b
  crux config set permissions.defaultMode auto
  claude config set a b
  claude mcp add x
  gcloud config set a b
  gcloud auth login
  aws configure
  aws configure set a b
  az config set a=b
  kubectl config set-context x
  kubectl config use-context x
  kubectl config set-credentials x
  kubectl config delete-context x
  docker context create x
  docker context use x
  docker login h
  helm repo add a b
  conda config --add channels x
  crontab f
  crontab -
  crontab -e
  crontab -r
  systemctl enable x
  systemctl --user enable x
  systemctl --user enable --now x
  systemctl link ./x.service
  systemctl mask x
  launchctl load x
  direnv allow
  direnv allow .
  pre-commit install
  lefthook install
  chsh -s /bin/e
  ssh-keygen
  ssh-keygen -t ed25519
  ssh-keygen -t rsa -f ~/.ssh/id_rsa
  ssh-copy-id h
`);

const AROUND: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `ls && ${text}`,
  (text) => `timeout 5 ${text}`,
  (text) => `env ${text}`,
  (text) => `for i in 1; do ${text}; done`,
  (text) => `(${text})`,
  (text) => `bash -c "${text.replaceAll(/(["$])/g, "\\$1")}"`,
  (text) => `echo $(${text})`,
  (text) => `DEBUG=1 ${text}`,
  (text) => `shopt -s extglob\n${text}`,
];

const TEXTS = WRITES.flatMap((text) => AROUND.map((around) => around(text)));

test.each(["default", "accept_edits", "bypass", "auto"] as const)(
  `${TEXTS.length} commands that write settings are a hard question in mode %s`,
  (mode) => {
    expect(TEXTS.filter((text) => !isHard(text, mode))).toEqual([]);
  },
);

const READS = lines(`
  git config --get user.name
  git config --get-all remote.origin.fetch
  git config --list
  git config -l
  git config --global --list
  git config user.email
  git config --global user.email
  git config get user.name
  git config list
  git remote
  git remote -v
  git remote get-url origin
  git remote show origin
  git submodule status
  git submodule update
  git lfs ls-files
  git commit -m config
  git log -- config
  git push origin config
  npm config get registry
  npm config list
  npm ls
  npm test
  npm run config
  npx eslint src
  pnpm install
  yarn install
  yarn config get x
  pip config list
  pip install x
  poetry config --list
  cargo build
  go env GOPATH
  go env
  gh config get pager
  gh pr view 1
  gh auth status
  aws s3 ls
  aws configure list
  kubectl config view
  kubectl config current-context
  kubectl get pods
  docker context ls
  docker ps
  crontab -l
  systemctl status x
  systemctl --user list-units
  ssh-keygen -l -f k
  echo git config a.b c
`);

test("what reads them, and what else the programs do, is not", () => {
  expect(READS.filter((text) => isHard(text, "bypass"))).toEqual([]);
});

test("settingsWritten() names the place", () => {
  const place = (text: string) => settingsWritten(text.split(" ").map(staticWord));
  expect(place("git config --global a.b c")).toBe("~/.gitconfig");
  expect(place("git config -f x a.b c")).toBe("x");
  expect(place("git config a.b")).toBeNull();
  expect(place("npm config set a b --location=project")).toBe(".npmrc");
  expect(settingsWritten(["git", "config"].map(staticWord), true)).toBe(".git/config");
});
