import { readFileSync } from "node:fs";
import { formOf, plain, scene } from "../test/support/pictures.ts";
import type { Service } from "../test/support/process.ts";
import { peakKib } from "./processes.ts";
import { Latencies } from "./latencies.ts";
import { requestText } from "./load.ts";
import { connections, openFor } from "./lobby/field.ts";
import { note, verdict, type Table } from "./report.ts";
import { measureRequests, startEcho, type Measured } from "./requests.ts";
import type { Scenarios } from "./floor-scenario.ts";
import { pidsOf, withService } from "./service.ts";

const numIcons = 200;
const look = "color=amber&bg=navy&border=gold&shape=circle";
/** Maximum side length of an upload, in pixels. */
const largestSide = 4_096;
/** Maximum concurrent uploads per sender. */
const atOnce = 4;

export const scenarios: Scenarios = {
  icons: {
    about: "icons drawn, against constant bytes of the same length",
    run: ({ isQuick }) => withService(1, (service) => drawIcons(service, isQuick ? 2 : 6)),
  },
  uploads: {
    about: "pictures from the upload to the moderation decision, and their memory",
    run: ({ isQuick }) => withService(1, (service) => sendPictures(service, isQuick ? 20 : 100)),
  },
};

async function drawIcons(service: Service, seconds: number): Promise<Table[]> {
  const list = await fetch(`${service.url}/v1/avatars/available`);
  const { body } = (await list.json()) as { body: { icons: { slug: string }[] } };
  const slugs = body.icons.slice(0, numIcons).map(({ slug }) => slug);
  let bytes = 0;
  for (const slug of slugs)
    bytes += (await (await fetch(`${service.url}/v1/avatars/icons/${slug}?${look}`)).text()).length;
  const length = Math.round(bytes / slugs.length);
  const echo = await startEcho(length);
  const request = requestText("GET", "/");
  const name = `constant bytes, ${length}`;
  const constant = await echo.measure({ name, request, connections, seconds });
  await echo.stop();
  const generator = await openFor(service);
  const jobs = generator.requestIds.map((_, n) => ({
    request: requestText("GET", `/v1/avatars/icons/{value}?${look}`),
    values: [...slugs.slice(n), ...slugs.slice(0, n)],
  }));
  const { pids } = await pidsOf(service);
  const drawn = await measureRequests({ name: "icons", generator, jobs, seconds, pids });
  generator.close();
  return [iconTable(constant, drawn)];
}

function iconTable(constant: Measured, drawn: Measured): Table {
  const line = (row: Measured) => [
    ...[row.name, row.perSecond.toFixed(0), row.p50Ms.toFixed(2), row.p99Ms.toFixed(2)],
    row.workerMicros.toFixed(1),
  ];
  const byCpu = constant.workerMicros / drawn.workerMicros;
  return {
    title: `avatars: ${numIcons} icons, interleaved, ${connections} connections`,
    head: ["what", "req/s", "p50 ms", "p99 ms", "worker us", "rate", "CPU", "target"],
    rows: [
      line(constant),
      [
        ...line(drawn),
        (drawn.perSecond / constant.perSecond).toFixed(2),
        byCpu.toFixed(2),
        verdict(byCpu, { limit: 0.5, isLeast: true }),
      ],
    ],
  };
}

interface Answer {
  body: { upload: { status: string } };
}

async function sendPictures(service: Service, count: number): Promise<Table[]> {
  const token = await register(service.url);
  const workers = (await service.processes()).filter(({ role }) => role === "jobs");
  const pids = () => workers.flatMap(({ pid }) => [pid, ...childrenOf(pid)]);
  const statuses: Record<string, number> = {};
  const send = async (bytes: Uint8Array): Promise<number> => {
    const started = performance.now();
    const answer = await fetch(`${service.url}/v1/users/@me/avatar/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, ...formOf([{ bytes }]).headers },
      body: formOf([{ bytes }]).body,
    });
    const { upload } = ((await answer.json()) as Answer).body;
    statuses[upload.status] = (statuses[upload.status] ?? 0) + 1;
    return (performance.now() - started) * 1_000;
  };
  const idle = peakKib(pids());
  const first = await send(await pictureOf(0));
  const latencies = new Latencies();
  for (let n = 1; n <= count; n++) latencies.add(await send(await pictureOf(n)));
  note(`peak of the job worker and its classifier: ${mib(peakKib(pids()))} MiB`);
  const large = await plain(largestSide, largestSide).jpeg().toBuffer();
  const sendFour = async () => {
    for (let n = 0; n < 4; n++) await send(large);
  };
  await Promise.all(Array.from({ length: atOnce }, sendFour));
  return [
    {
      title: `avatars: ${count} uploads of 640 x 480, sequential, then 16 of ${largestSide} x ${largestSide}, ${atOnce} concurrent`,
      head: ["first ms", "p50 ms", "p99 ms", "decisions", "MiB before", "peak MiB"],
      rows: [
        [
          (first / 1_000).toFixed(0),
          ...[latencies.at(0.5).toFixed(0), latencies.at(0.99).toFixed(0)],
          Object.entries(statuses)
            .map(([status, number]) => `${status}:${number}`)
            .join(" "),
          ...[mib(idle), mib(peakKib(pids()))],
        ],
      ],
    },
  ];
}

const mib = (kib: number) => (kib / 1_024).toFixed(0);

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** Alternates JPEG, PNG and WebP, no two alike. */
function pictureOf(n: number): Promise<Buffer> {
  const picture = scene(n, 640, 480);
  const encoded = [picture.jpeg(), picture.png(), picture.webp()][n % 3] ?? picture;
  return encoded.toBuffer();
}

async function register(url: string): Promise<string> {
  const answer = await fetch(`${url}/v1/users`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      email: "bench@example.com",
      username: "bench_painter",
      password: "correct horse 1",
    }),
  });
  return ((await answer.json()) as { body: { access_token: string } }).body.access_token;
}
