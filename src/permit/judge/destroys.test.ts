import { beforeAll, expect, test } from "vitest";
import { bash } from "../contract.ts";
import { loadParser } from "../shell/parser.ts";
import { destroyedBy } from "./destroys.ts";

beforeAll(loadParser);

const PLACES = { home: "/home/u", realPath: (path: string) => path };
const by = (text: string) => destroyedBy(PLACES, [bash(text)]);

test.each<[string, readonly string[]]>([
  ["rm -r build/", ["build"]],
  ["cd src && rm -f -- -x ./a.o ../b.o", ["-x", "a.o", "b.o"]],
  ["timeout 5 rm /var/lib/data", ["data"]],
  ["bash -c 'rmdir old'", ["old"]],
  ["find logs -name x -delete", ["logs"]],
  ["truncate -s 0 app.log", ["app.log"]],
  ["dd if=/dev/zero of=disk.img", ["disk.img"]],
  ["git push --force origin main", ["main"]],
  ["git push origin +HEAD:release", ["release"]],
  ["git -C sub branch -D topic", ["topic"]],
  ["git reset --hard v1", ["v1"]],
  ["git checkout -- src/a.ts", ["a.ts"]],
  ["git restore src/a.ts", ["a.ts"]],
  ["psql -c 'DROP TABLE IF EXISTS users; drop database shop'", ["users", "shop"]],
  ["kubectl delete pod web-1", ["pod", "web-1"]],
  ["docker volume rm data", ["data"]],
])("%s removes what it names", (text, targets) => expect(by(text)).toEqual({ targets, isOpen: false }));

test.each(["rm -rf $DIR", "rm *.o", "git reset --hard", "git clean -fd", "git push -f", "ls | xargs rm"])(
  "%s removes what is known only when it runs",
  (text) => expect(by(text)).toEqual({ targets: [], isOpen: true }),
);

test.each([
  "ls -r build",
  "git push origin main",
  "git reset HEAD a",
  "git branch -a",
  "echo rm x",
  "git restore --staged a",
])("%s removes nothing", (text) => expect(by(text)).toBeNull());

test("a file that a tool deletes is one; other writes are not", () => {
  const write = (change: "modify" | "delete") =>
    destroyedBy(PLACES, [{ kind: "write", path: "/ws/a.ts", change }]);
  expect([write("delete"), write("modify")]).toEqual([{ targets: ["a.ts"], isOpen: false }, null]);
});
