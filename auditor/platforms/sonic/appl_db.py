"""APPL_DB, what orchagent was told: the applied layer of ports and buffers, read with `sonic-db-dump`.

The commands, with the least that a switch answers (redisdl prints sorted JSON, two blanks deep, without a newline at its end;
`expireat` is the time of the answer, `ttl` is -0.001 for a key that stays):

- `sonic-db-dump -n APPL_DB -k 'PORT_TABLE:*' -y`

      {
        "PORT_TABLE:Ethernet0": {
          "expireat": 1772409600.1, "ttl": -0.001, "type": "hash",
          "value": {"admin_status": "up", "alias": "etp1", "autoneg": "off", "description": "…", "lanes": "1,2", "mtu": "9100", …}
        },
        "PORT_TABLE:PortConfigDone": {… "value": {"count": "64"}},
        "PORT_TABLE:PortInitDone": {… "value": {"lanes": "0"}}
      }

- `sonic-db-dump -n APPL_DB -k 'BUFFER_*' -y`: keys `BUFFER_POOL_TABLE:ingress_lossless_pool`,
  `BUFFER_PROFILE_TABLE:pg_lossless_400000_5m_profile` and `BUFFER_PG_TABLE:Ethernet0:3-4`, each with the fields that the table
  of that name has in CONFIG_DB. In the dynamic model sizes and headroom stand only here; a port that is administratively
  down has lost its lossless groups.

A switch that has several ASICs keeps these tables in a database per ASIC, which this command does not reach: the dump is empty.
"""
