import { GLOBAL } from "./help-flags.ts";

/** By command. */
export const MOUNT_TOPICS: Readonly<Record<string, string>> = {
  mount: `Mount a server of tools (MCP) for all processes

Usage:
  crux mount <name> --url <url> [--header K=V]…
  crux mount <name> [-e K=V]… -- <command> [args…]

      --url <url>       a server that is reached over HTTP
      --header K=V      sent with each request to it
  -e, --env K=V         given to the command; K alone takes the value from here

It lies at /mnt/mcp/<name>, with its tools below /mnt/mcp/<name>/tools; a path below /mnt/mcp may be given instead of
the name. The command is started in this folder, and ends when nobody has it mounted any more.

${GLOBAL}

Examples:
  crux mount notes -- npx -y @modelcontextprotocol/server-memory
  crux mount tracker --url https://tracker.example/mcp --header "Authorization=Bearer $TOKEN"`,

  umount: `Take a mounted server of tools (MCP) away

Usage:
  crux umount <name|path>

${GLOBAL}`,

  mcp: `Servers of tools (MCP)

Usage:
  crux mcp list     what is mounted: where, whose (0: for all), state, tools, pid of its service, what is wrong

crux mount and crux umount change it; an agent file may bring servers of its own.
Modes: --quiet prints paths alone.

${GLOBAL}`,
};
