import { expect, test } from "vitest";
import { maskedCommand, serverLabel } from "./server-label.ts";

const stdio = (command: string, ...args: string[]) =>
  serverLabel({ type: "stdio", command, args, env: { TOKEN: "hidden" } });
const http = (url: string) => serverLabel({ type: "http", url, headers: { authorization: "Bearer hidden" } });

test.each([
  [stdio("npx", "server-memory"), "stdio: npx server-memory"],
  [stdio("npx", "-y", "s", "--api-key", "hidden", "--verbose"), "stdio: npx -y s --api-key … --verbose"],
  [stdio("s", "--api-key=hidden", "-token=hidden"), "stdio: s --api-key=… -token=…"],
  [stdio("s", "--token", "--verbose"), "stdio: s --token --verbose"],
  [stdio("s", "sk-hidden0123456789abc"), "stdio: s …"],
  [stdio("s", "postgres://ada:hidden@db/x?password=hidden"), "stdio: s postgres://db/x"],
  [stdio("s", "a\nb\u202e"), "stdio: s a b "],
  [http("http://127.0.0.1:8080/mcp"), "http: http://127.0.0.1:8080/mcp"],
  [http("https://ada:hidden@x.io/mcp?key=hidden#hidden"), "http: https://x.io/mcp"],
])("serverLabel(): %s", (label, expected) => {
  expect(label).toBe(expected);
  expect(label).not.toContain("hidden");
});

test("serverLabel() is one short line, whatever the entry", () => {
  expect(stdio("s", "x".repeat(5_000))).toHaveLength(200);
});

test("maskedCommand() keeps the words of a command, and no secret among them", () => {
  const argv = [
    "deploy",
    "--token",
    "hidden",
    "--to=prod",
    "--api-key=hidden",
    "https://ada:hidden@x.io/a",
    "a b",
  ];
  expect(maskedCommand(argv)).toEqual([
    "deploy",
    "--token",
    "…",
    "--to=prod",
    "--api-key=…",
    "https://x.io/a",
    "a b",
  ]);
  expect(maskedCommand([])).toEqual([""]);
});
