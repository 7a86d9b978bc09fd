/**
 * The MCP server the program sees: it lists the request's tools and never answers a call, since Crux runs the tools and
 * ends the program when its reply is complete. Written to a file and started with our own Node, so `serve` is whole in
 * itself: no imports, nothing from outside.
 */
export function bridgeSource(): string {
  return `(${serve.toString()})();\n`;
}

interface Call {
  id?: unknown;
  method?: string;
  params?: { protocolVersion?: string };
}

/** argv[2] is a file with the list of tools. Ends with its standard input. */
function serve(): void {
  const tools: unknown = JSON.parse(
    process.getBuiltinModule("node:fs").readFileSync(process.argv[2] ?? "", "utf8"),
  );
  const send = (message: object): void => {
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const answer = ({ id, method, params }: Call): void => {
    if (id === undefined || method === "tools/call") return;
    if (method === "initialize") {
      const protocolVersion = params?.protocolVersion ?? "2025-06-18";
      const serverInfo = { name: "crux", version: "1" };
      send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
    } else if (method === "tools/list") send({ id, result: { tools } });
    else if (method === "ping") send({ id, result: {} });
    else send({ id, error: { code: -32601, message: `unknown method ${method}` } });
  };
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") answer(JSON.parse(line));
  });
  process.stdin.on("end", () => process.exit(0));
}
