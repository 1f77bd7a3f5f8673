<?php
// Follows a lobby with streams of PHP: php sse.php http://127.0.0.1:8080
const LIMIT_SECONDS = 12;
$url = $argv[1];
$lobbies = "$url/v1/games/trivia/lobbies";

function post(string $address, ?array $body = null, array $headers = []): array
{
    $http = ['method' => 'POST', 'header' => $headers];
    if ($body !== null) {
        $http['header'][] = 'Content-Type: application/json';
        $http['content'] = json_encode($body === [] ? new stdClass() : $body);
    }
    $text = file_get_contents($address, false, stream_context_create(['http' => $http]));
    if ($text === false) {
        exit(1);
    }
    return ['headers' => $http_response_header, 'body' => json_decode($text, true)['body'] ?? null];
}

/** An id given goes on behind that event. */
function follow(string $code, string $token, ?string $lastId = null)
{
    global $url;
    $headers = ['Accept: text/event-stream', "Authorization: Bearer $token"];
    if ($lastId !== null) {
        $headers[] = "Last-Event-ID: $lastId";
    }
    $context = stream_context_create(['http' => ['header' => $headers, 'protocol_version' => 1.1]]);
    $stream = fopen("$url/v1/hub?topic=/games/trivia/lobby/$code", 'r', false, $context);
    if ($stream === false) {
        exit(1);
    }
    stream_set_timeout($stream, LIMIT_SECONDS);
    return $stream;
}

/** Byte by byte from what is buffered: fgets would wait until eight KiB have come, or the time is over. */
function read_line($stream): ?string
{
    for ($line = ''; ($byte = fread($stream, 1)) !== false && $byte !== ''; $line .= $byte) {
        if ($byte === "\n") {
            return $line;
        }
    }
    return null;
}

function read_event($stream): array
{
    [$id, $type, $data] = [null, 'message', []];
    while (($line = read_line($stream)) !== null) {
        [$name, $value] = explode(': ', rtrim($line, "\n"), 2) + [1 => ''];
        if ($name === 'id') {
            $id = $value;
        } elseif ($name === 'event') {
            $type = $value;
        } elseif ($name === 'data') {
            $data[] = $value;
        } elseif ($name === '' && $data !== []) {
            return [$id, $type, json_decode(implode("\n", $data), true)];
        }
    }
    fwrite(STDERR, 'no event within ' . LIMIT_SECONDS . " s\n");
    exit(1);
}

function show(array $event, float $start): void
{
    [$id, $type, $message] = $event;
    $took = round((microtime(true) - $start) * 1000);
    echo "$type $id {$message['data']['player']['name']} $took ms\n";
}

$guest = post("$url/v1/gateway/guest", [])['body']['access_token'];
$game = ['hostName' => 'Zoë', 'mode' => 'versus', 'category' => 'science', 'timer' => 30, 'numQuestions' => 3];
$lobby = post($lobbies, $game, ["Authorization: Bearer $guest"])['body'];
$code = $lobby['lobby']['code'];
$answer = post("$lobbies/$code/token", null, ["X-Lobby-Token: {$lobby['player_token']}"]);
[$line] = array_values(preg_grep('/^x-hub-token:/i', $answer['headers']));
$token = trim(explode(':', $line, 2)[1]);
$join = fn (string $name) => post("$lobbies/$code/join", ['name' => $name]);

$stream = follow($code, $token);
[$id, $type] = read_event($stream);
echo "$type $id\n";
foreach (['Grace', 'Łukasz', '小林'] as $name) {
    $start = microtime(true);
    $join($name);
    $event = read_event($stream);
    show($event, $start);
}
fclose($stream);

$join('Odile');
$start = microtime(true);
show(read_event(follow($code, $token, $event[0])), $start);
