-- Rows as versions before the one form of addresses wrote them; older ones compared what was typed.
insert into players (id, name, name_key, username, is_guest, email, email_key, email_verified_at, password_hash, channels, realm, created_at) values
  (101, 'wide',     'wide',     'wide',     false, 'Ada＠Example.com', 'ada@example.com', null, 'x', '{email:account}', 'default', '2025-01-01'),
  (102, 'idn',      'idn',      'idn',      false, 'Bob@Bücher.example', 'bob@xn--bcher-kva.example', '2025-02-01', 'x', '{email:account}', 'default', '2025-01-02'),
  (103, 'plain',    'plain',    'plain',    false, 'plain@example.com', 'plain@example.com', null, 'x', '{email:account}', 'default', '2025-01-03'),
  -- The older of two, neither verified.
  (111, 'older',    'older',    'older',    false, 'eve@example.com', 'eve@example.com', null, 'x', '{email:account}', 'default', '2025-01-04'),
  (112, 'younger',  'younger',  'younger',  false, 'eve＠example.com', 'eve＠example.com', null, 'x', '{email:account}', 'default', '2025-01-05'),
  -- The verified of two, though younger.
  (121, 'unproven', 'unproven', 'unproven', false, 'Max@example.com', 'max@example.com', null, 'x', '{email:account}', 'default', '2025-01-06'),
  (122, 'proven',   'proven',   'proven',   false, E'ma\uFE0Fx@example.com', E'ma\uFE0Fx@example.com', '2025-03-01', 'x', '{email:account}', 'default', '2025-01-07'),
  -- Three of one mailbox, the open before the closed.
  (131, 'closed',   'closed',   'closed',   false, 'tri@example.com', 'tri@example.com', null, 'x', '{}', 'default', '2025-01-08'),
  (132, 'second',   'second',   'second',   false, 'TRI＠example.com', 'tri＠example.com', null, 'x', '{email:account}', 'default', '2025-01-09'),
  (133, 'third',    'third',    'third',    false, 'tri@example。com', 'tri@example。com', null, 'x', '{email:account}', 'default', '2025-01-10'),
  -- Nothing an address could be made of.
  (141, 'odd',      'odd',      'odd',      false, 'no address', 'no address', null, 'x', '{email:account}', 'default', '2025-01-11'),
  (142, 'social',   'social',   'social',   false, null, null, null, null, '{}', 'default', '2025-01-12');
update players set deleted_at = '2025-02-02' where id = 131;
insert into email_verifications (player_id, token_hash, email_key, expires_at) values
  (112, 'h112', 'eve＠example.com', '2099-01-01'), (111, 'h111', 'eve@example.com', '2099-01-01');
insert into subscribers (id, email, email_key, channels, verified_at, unsubscribed_at, created_at, updated_at) values
  (1, 'News@Example.com', 'news@example.com', '{email:marketing}', '2025-01-01', null, now(), now()),
  (2, 'list＠example.com', 'list＠example.com', '{email:marketing}', '2025-01-01', null, now(), now()),
  (3, 'list@example.com', 'list@example.com', '{email:marketing}', null, '2025-01-02', now(), now());
