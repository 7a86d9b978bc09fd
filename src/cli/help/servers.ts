import type { CommandRow } from "./row.ts";

export const SERVERS: readonly CommandRow[] = [
  {
    name: "mcp",
    head: "mcp list",
    brief: "show what is mounted",
    words: [["list"]],
    summary: "Servers of tools (MCP)",
    usage: [
      [
        "mcp list",
        "what is mounted: where, whose (0: for all), state, tools, pid of its service, what is wrong",
      ],
    ],
    about: `crux mount and crux umount change it; an agent file may bring servers of its own.
Modes: --quiet prints paths alone.`,
  },
  {
    name: "mount",
    head: "mount <name>",
    brief: "mount a server for all processes",
    summary: "Mount a server of tools (MCP) for all processes",
    usage: [
      "mount <name> --url <url> [--header K=V]…",
      "mount <name> [-e K=V]… [--unconfined] -- <command> [args…]",
    ],
    options: [
      { flag: "url", value: "<url>", meaning: "a server that is reached over HTTP" },
      { flag: "header", value: "K=V", meaning: "sent with each request to it" },
      {
        flag: "env",
        short: "e",
        value: "K=V",
        meaning: "given to the command; K alone takes the value from here",
      },
      {
        flag: "unconfined",
        meaning: "the command runs with your whole account, also where it lies in a project",
      },
    ],
    about: `It lies at /mnt/mcp/<name>, with its tools below /mnt/mcp/<name>/tools; a path below /mnt/mcp may be given instead of
the name. A command that names something in this folder is started here, any other at home; it ends when nobody
has it mounted any more. In a project it is confined as an agent's commands are, since an agent may change it.`,
    examples: [
      "crux mount notes -- npx -y @modelcontextprotocol/server-memory",
      'crux mount tracker --url https://tracker.example/mcp --header "Authorization=Bearer $TOKEN"',
    ],
  },
  {
    name: "umount",
    head: "umount <name>",
    brief: "take it away",
    words: [["<mount>"]],
    summary: "Take a mounted server of tools (MCP) away",
    usage: ["umount <name|path>"],
  },
];
