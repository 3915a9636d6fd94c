// The sync hook of Metacontroller's CompositeController: a Widget in, its Pod out. Without any library, since anything
// else would measure that library. Prints "listening" and its port, then answers until SIGTERM.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { parent } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const answer = JSON.stringify({ status: {}, children: [podOf(parent)] });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) });
    response.end(answer);
  });
});

/** Metacontroller adds the namespace and the owner reference. */
function podOf(widget) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: widget.metadata.name },
    spec: { schedulerName: "none", containers: [{ name: "main", image: widget.spec.image }] },
  };
}

server.keepAliveTimeout = 0; // a connection that is kept is never closed under the feet of the next request
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
process.on("SIGTERM", () => process.exit(0));
