import { describe, expect, test } from "vitest";
import type { McpConfig } from "../../abi/mcp.ts";
import { parseManifest } from "./manifest.ts";

const env = { HOME: "/home/ada", TOKEN: "hidden", EMPTY: "" };

function parse(text: string) {
  const warnings: string[] = [];
  const { mcp } = parseManifest(`name: x\n${text}`, (message) => warnings.push(message), env);
  return { mcp, warnings };
}
const one = (text: string): McpConfig | undefined => parse(`mcp: [{ name: s, ${text} }]`).mcp[0]?.config;

describe("mcp in agent.yaml", () => {
  test("of the type sse is reached by the transport before streamable HTTP", () => {
    const config = { type: "http", url: "http://x/sse", headers: {}, sse: true };
    expect(one("type: sse, url: 'http://x/sse'")).toEqual(config);
  });

  test("is a list of servers: local ones and remote ones, required unless it says otherwise", () => {
    const text = `mcp:
  - name: memory
    command: npx
    args: [-y, server-memory, 3]
    env: { MEMORY_FILE_PATH: "\${HOME}/memory.json", Level: 2 }
    cwd: ~/desk
  - name: search
    url: https://search.example/mcp?key=$TOKEN
    headers: { Authorization: "Bearer \${TOKEN}" }
    required: false
`;
    expect(parse(text)).toEqual({
      mcp: [
        {
          name: "memory",
          required: true,
          config: {
            type: "stdio",
            command: "npx",
            args: ["-y", "server-memory", "3"],
            env: { MEMORY_FILE_PATH: "/home/ada/memory.json", Level: "2" },
            cwd: "/home/ada/desk",
          },
        },
        {
          name: "search",
          required: false,
          config: {
            type: "http",
            url: "https://search.example/mcp?key=hidden",
            headers: { Authorization: "Bearer hidden" },
          },
        },
      ],
      warnings: [],
    });
  });

  test.each([
    "mcpServers: { myMemory: { command: npx } }",
    "mcp_servers: [{ myMemory: { command: npx } }]",
    "mcp: [{ name: myMemory, command: npx, type: stdio }]",
  ])("%s is read too, names as they are written", (text) => {
    const config = { type: "stdio", command: "npx", args: [], env: {} };
    expect(parse(text).mcp).toEqual([{ name: "myMemory", config, required: true }]);
  });

  test("leaves out what is disabled, and names alone", () => {
    expect(parse("mcp: [{ name: a, command: c, disabled: true }, github]")).toEqual({
      mcp: [],
      warnings: ["agent.yaml: mcp: github is a name alone; a server needs a command or a url"],
    });
  });

  test("a variable that is missing is empty, with a word about it; a header with one is left out", () => {
    expect(parse("mcp: [{ name: a, command: c, args: ['$NONE-x', '${NO:-d}', '$EMPTY'] }]")).toEqual({
      mcp: [
        {
          name: "a",
          config: { type: "stdio", command: "c", args: ["-x", "d", ""], env: {} },
          required: true,
        },
      ],
      warnings: ["agent.yaml: mcp: a: NONE is not set and counts as empty"],
    });
    expect(parse("mcp: [{ name: a, url: 'http://x', headers: { A: 'Bearer $NONE', B: ok } }]")).toEqual({
      mcp: [{ name: "a", config: { type: "http", url: "http://x", headers: { B: "ok" } }, required: true }],
      warnings: ["agent.yaml: mcp: a: NONE is not set; the header A is left out"],
    });
  });

  test.each([
    ["type: http, url: 'http://x'", { type: "http", url: "http://x", headers: {} }],
    ["type: streamable-http, url: 'http://x'", { type: "http", url: "http://x", headers: {} }],
    [
      "command: /bin/s, cwd: $HOME",
      { type: "stdio", command: "/bin/s", args: [], env: {}, cwd: "/home/ada" },
    ],
  ])("%s", (text, config) => {
    expect(one(text)).toEqual(config);
  });

  test.each([
    ["mcp: yes", "mcp must be a list of mappings"],
    ["mcp: [3]", "mcp must be a list of mappings"],
    ["mcp: { s: c }", "mcp s must be a mapping"],
    ["mcp: []\nmcpServers: {}", "mcp and mcpServers are the same: give one"],
    ["mcp: [{ command: c }]", 'mcp needs names of letters, digits, - and single _: ""'],
    ["mcp: [{ name: a__b, command: c }]", 'mcp needs names of letters, digits, - and single _: "a__b"'],
    ["mcp: [{ name: a, command: c }, { name: a, command: d }]", "mcp names a twice"],
    ["mcp: [{ name: a }]", "mcp a: needs a command or a url"],
    ["mcp: [{ name: a, command: c, url: 'http://x' }]", "mcp a: has both a command and a url"],
    ["mcp: [{ name: a, type: ws, url: 'http://x' }]", "mcp a: type ws is not supported: stdio, http or sse"],
    ["mcp: [{ name: a, type: http }]", "mcp a: needs a url"],
    ["mcp: [{ name: a, command: c, cwd: here }]", "mcp a: cwd must be absolute: here"],
    ["mcp: [{ name: a, command: c, args: x }]", "args must be a list of texts"],
    ["mcp: [{ name: a, command: c, required: no-way }]", "required must be true or false"],
  ])("%s is INVALID", (text, message) => {
    const thrown = {
      code: "INVALID",
      message: expect.stringMatching(`^agent\\.yaml(:\\d+)?: ${RegExp.escape(message)}$`),
    };
    expect(() => parse(text)).toThrow(expect.objectContaining(thrown));
  });
});
