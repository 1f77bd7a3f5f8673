// Types of the OpenAPI document, by `npm run client:types`.

export const eventTypes = {
  "lobby.snapshot": true,
  "lobby.player_joined": true,
  "lobby.settings": true,
  "lobby.started": true,
  "lobby.answer": true,
  "lobby.pick": true,
  "lobby.reveal": true,
  "lobby.question": true,
  "lobby.host_disconnect": true,
  "lobby.player_removed": true,
  "lobby.spectators": true,
  "lobby.ended": true,
  "lobby.gap": true,
} as const;
