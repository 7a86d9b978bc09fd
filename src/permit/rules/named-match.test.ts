/** Rules name commands, not places of words. */
import { beforeAll, describe, expect, test } from "vitest";
import { allowed, asked, bash, denied, run, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";
import { notRule } from "./rule.ts";

beforeAll(() => loadParser());

const decide = (
  text: string,
  rules: Parameters<typeof makePermit>[0]["rules"],
  mode: "default" | "bypass" = "default",
) =>
  run(
    makePermit({
      ...{ rules, defaultMode: "default", additionalDirectories: [], home: "/home/u", kernelPaths: [] },
      realPath: (path) => path,
      exists: (path) => path === "/ws/.git",
    }),
    "bash",
    [bash(text)],
    subject({ mode }),
  );

describe("a deny or an ask", () => {
  test.each([
    ["git push:*", "git --no-pager push"],
    ["git push:*", "git -P push origin main"],
    ["git push:*", "git -C . push"],
    ["git push:*", "git -C. push"],
    ["git push:*", "git -c a.b=c push"],
    ["git push:*", "git --git-dir=.git --work-tree . push"],
    ["git push:*", "git --frobnicate push"],
    ["git push:*", "git --frobnicate x push"],
    ["git push:*", "/usr/lib/git-core/git-push origin"],
    ["git push:*", "env CI=1 timeout 5 git -P push"],
    ["git push:*", "find . -exec git -P push ';'"],
    ["git push:*", "sh -c 'git -c x=y push'"],
    ["git push", "git --no-pager push"],
    ["git push --force:*", "git push -f"],
    ["git push --force:*", "git push origin main --forc"],
    ["git push --force:*", "git push -uf origin main"],
    ["git push --force:*", "git push origin +main"],
    ["git push --delete:*", "git push origin :main"],
    ["git remote add:*", "git remote -v add x y"],
    ["git add:*", "git stage ."],
    ["rm -rf:*", "rm -fr x"],
    ["rm -rf:*", "rm -r -v -f x"],
    ["rm -rf:*", "rm x --recursive --force"],
    ["rm -rf:*", "rm --rec --fo x"],
    ["npm publish:*", "npm --prefix . publish"],
    ["npm publish:*", "npm -w a pub"],
    ["npm install:*", "npm i x"],
    ["npm install:*", "npm isntall x"],
    ["docker run:*", "docker -H tcp://h:1 run x"],
    ["docker run:*", "docker container run x"],
    ["docker compose up:*", "docker-compose -f a.yml up"],
    ["docker-compose up:*", "docker compose -f a.yml up"],
    ["docker run --privileged:*", "docker run --rm --privileged x"],
    ["kubectl delete:*", "kubectl -n a --context=b delete pod x"],
    ["gh pr merge:*", "gh -R a/b pr merge 1"],
    ["cargo publish:*", "cargo +nightly publish"],
    ["pip install:*", "python3.11 -m pip --quiet install x"],
    ["pip install:*", "pip3 install x"],
    ["terraform apply:*", "terraform -chdir=a apply"],
    ["chmod 777:*", "chmod -R 777 x"],
    ["frob push:*", "frob --x y push"],
    ["tar -x:*", "tar xf a.tgz"],
  ])("%s meets %j, in bypass too", (rule, text) => {
    const rules = [allowed("bash"), denied(`bash(${rule})`)];
    const isVersioned = text.startsWith("pip3");
    if (isVersioned) expect(decide(text, rules, "bypass").behavior).toBe("deny");
    for (const mode of ["default", "bypass"] as const) {
      expect(decide(text, rules, mode).behavior, mode).toBe("deny");
      expect(decide(text, [allowed("bash"), asked(`bash(${rule})`)], mode), mode).toMatchObject({
        behavior: "ask",
        isHard: true,
      });
    }
  });

  test.each([
    ["git push:*", "git $X"],
    ["git push:*", "git -C $X status"],
    ["git push:*", "git p origin"],
    ["git push --force:*", "git push $X"],
    ["rm -rf:*", "rm $X"],
  ])("%s asks where %j may be it", (rule, text) => {
    expect(decide(text, [allowed("bash"), denied(`bash(${rule})`)], "bypass")).toMatchObject({
      behavior: "ask",
    });
  });

  test.each([
    ["git push:*", "git log --grep push"],
    ["git push:*", "git -C . log push"],
    ["git push:*", "git commit -m push"],
    ["git push --force:*", "git push origin main"],
    ["rm -rf:*", "rm -r x"],
    ["npm publish:*", "npm run publish"],
    ["docker run:*", "docker ps run"],
    ["kubectl delete:*", "kubectl -n delete get pods"],
  ])("%s does not mean %j", (rule, text) => {
    expect(decide(text, [allowed("bash"), denied(`bash(${rule})`)], "bypass").behavior).toBe("allow");
  });
});

describe("an allow", () => {
  test.each(["git --no-pager log", "git -P log -5", "git --no-optional-locks --no-pager log"])(
    "of git log covers %j: the options before it are harmless",
    (text) => {
      expect(decide(text, [allowed("bash(git log:*)")]).behavior).toBe("allow");
    },
  );

  test.each([
    ...[
      "git -c core.pager=x log",
      "git -C /x log",
      "git --git-dir=/x log",
      "git --exec-path=. log",
      "git -p log",
    ],
    ...["git log --outp=f", "git --frobnicate log", "git push", "git -c alias.log=!x log"],
  ])("of git log does not cover %j", (text) => {
    expect(decide(text, [allowed("bash(git log:*)")]).behavior).toBe("ask");
  });

  test("covers what it spells, where it spells it", () => {
    const rules = [
      allowed("bash(make -f ci.mk:*)"),
      allowed("bash(git push ./mirror:*)"),
      allowed("bash(git -C * log)"),
    ];
    expect(decide("make -f ci.mk all", rules).behavior).toBe("allow");
    expect(decide("make -f ci.mk -f evil.mk", rules).behavior).toBe("ask");
    expect(decide("git push ./mirror main", rules).behavior).toBe("allow");
    expect(decide("git push ./other main", rules).behavior).toBe("ask");
  });
});

/** What the rule for a program does not mean, by its operands. */
test.each([
  ["git *", "git push https://h/x main"],
  ["git *", "git push h:x main"],
  ["git *", "git push ../x"],
  ["git *", "git fetch ../x"],
  ["git *", "git clone file:///x y"],
  ["git *", "git ls-remote ext::sh"],
  ["make *", "make SHELL=./e"],
  ["make *", "make CC='./e'"],
  ["sed *", "sed 1e f"],
  ["sed *", "sed 's/a/b/w f' g"],
  ["sed *", "sed -n -e p -e 'w f' g"],
  ["awk *", "awk '{print > \"f\"}' g"],
  ["awk *", "awk 'BEGIN{system(\"x\")}'"],
  ["awk *", "awk '@load \"x\"; 1'"],
  ["jq *", "jq -n env"],
  ["gcc *", "gcc @options a.c"],
  ["uniq *", "uniq a b"],
  ["sqlite3 *", "sqlite3 a.db '.shell x'"],
  ["less *", "less '+!x' f"],
  ["date *", "date 010100002030"],
  ["sysctl *", "sysctl kernel.core_pattern=x"],
])("%s does not cover %j", (rule, text) => {
  expect(
    decide(text, [{ ...allowed("bash(less:*)"), behavior: "drop" }, allowed(`bash(${rule})`)]).behavior,
  ).toBe("ask");
});

test.each([
  ["git *", "git push origin main"],
  ["git *", "git clone https://h/a b"],
  ["git *", "git cherry-pick -x abc"],
  ["git *", "git commit -amx"],
  ["make *", "make -j4 test V=1 PREFIX=out"],
  ["awk *", "awk '$3 > 100 {print $1}' f"],
  ["sed *", "sed -n -e p -e 's/a/b/' g"],
  ["npm *", "npm run build -- --config x"],
  ["python3 *", "python3 x.py -c y"],
  ["docker *", "docker run --rm x -v"],
  ["gcc *", "gcc -O2 -o a a.c -lm"],
  ["cargo *", "cargo test --release -- --nocapture"],
])("%s covers %j", (rule, text) => {
  expect(decide(text, [allowed(`bash(${rule})`)]).behavior).toBe("allow");
});

test.each([
  ["tar *", "tar xfC a /x"],
  ["tar *", "tar cfI a ./e b"],
  ["awk *", "awk -e 'BEGIN{system(\"x\")}'"],
  ["sed *", "sed -e '1e rm x'"],
])("%s does not cover %j: what the option says counts without an operand, too", (rule, text) => {
  expect(decide(text, [allowed(`bash(${rule})`)]).behavior).toBe("ask");
});

test.each([
  "git rebase -x 'frob x' HEAD~2",
  "fd -x frob",
  "direnv exec . frob x",
  "tar xf a --to-command=frob",
])("a deny of frob asks at %j in bypass: it starts what stands among its words", (text) => {
  expect(decide(text, [allowed("bash"), denied("bash(frob:*)")], "bypass")).toMatchObject({
    behavior: "ask",
    isHard: true,
  });
});

test.each(["mode(bypass)", "mode(auto)", "meaning(bash: run anything)"])(
  "notRule() refuses what only the kernel grants, so that no client writes it as a rule of a session: %s",
  (text) => {
    expect(notRule({ source: "session", behavior: "allow", text })).toMatch(
      /^rules for \w+ take no content$/,
    );
  },
);
