"""The output of ``qquota -help``: Grid Engine's text, for the scripts and people who know it."""

from __future__ import annotations

#: Verbatim from Grid Engine 8.1.9, with its version: scripts recognise the dialect of a command by it.
USAGE = """\
SGE 8.1.9
usage: qquota [options]
  [-help]                              print this help
  [-h wc_host_list|wc_hostgroup_list]  display only selected hosts
  [-l resource_attributes]             request the given resources
  [-u user_list]                       display only selected users
  [-pe wc_pe_list]                     display only selected parallel environments
  [-P wc_project_list]                 display only selected projects
  [-q wc_cqueue_list]                  display only selected queues
  [-xml]                               display the information in XML format

resource_attributes     resource_name,resource_name,...
wc_cqueue               wildcard expression matching a cluster queue
wc_cqueue_list          wc_cqueue[,wc_cqueue,...]
wc_host                 wildcard expression matching a host
wc_host_list            wc_host[,wc_host,...]
wc_hostgroup            wildcard expression matching a hostgroup
wc_hostgroup_list       wc_hostgroup[,wc_hostgroup,...]
wc_pe                   wildcard expression matching a parallel environment
wc_pe_list              wc_pe[,wc_pe,...]
wc_project              wildcard expression matching a project
wc_project_list         wc_project[,wc_project,...]
user_list               user[,user,...]
"""
